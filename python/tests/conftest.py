"""What the tests share: the command, a simulator of APNs in a process of its own, and campaigns for it."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(__file__).parent / "programs"
TOPIC = "com.example.app"


def binary() -> str:
    return os.environ.get("APNS_BATCH", str(ROOT / ".build" / "debug" / "apns-batch"))


@pytest.fixture(autouse=True, scope="session")
def _command() -> None:
    os.environ["APNS_BATCH"] = binary()
    if not os.access(binary(), os.X_OK):
        pytest.fail(f"{binary()} does not exist: build it, or name it in APNS_BATCH")


@dataclass
class Simulator:
    """A simulator that listens on a port of 127.0.0.1."""

    directory: pathlib.Path
    process: subprocess.Popen[str]
    port: int

    def received(self) -> dict[str, tuple[int, int]]:
        """Ends the simulator. Returns how many requests each token got, and how many were accepted."""
        self.end()
        with open(self.directory / "counts.csv", newline="", encoding="ascii") as file:
            return {
                line["token"]: (int(line["received"]), int(line["accepted"])) for line in csv.DictReader(file)
            }

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.communicate(timeout=60)

    def largest_second(self) -> int:
        """The most requests that certainly arrived within a second.

        The simulator has written when it read requests, and when it had nothing to read the last time before: they arrived
        between the two.
        """
        polls: list[tuple[int, int, int]] = []
        most, total, first = 0, 0, 0
        with open(self.directory / "arrivals.csv", newline="", encoding="ascii") as file:
            for line in csv.DictReader(file):
                polls.append((int(line["monotonic_ns"]), int(line["since_ns"]), int(line["requests"])))
        for now, _, requests in polls:
            total += requests
            while total > 0 and now - polls[first][1] > 1_000_000_000:
                total -= polls[first][2]
                first += 1
            most = max(most, total)
        return most


@pytest.fixture
def start_simulator(tmp_path: pathlib.Path) -> Iterator[Callable[..., Simulator]]:
    started: list[Simulator] = []

    def start(script: str = "", *flags: str) -> Simulator:
        directory = tmp_path / "simulator"
        directory.mkdir(exist_ok=True)
        (directory / "script.yaml").write_text(script or "seed: 1\n", encoding="utf-8")
        command = [
            *(binary(), "simulate", "--port", "0", "--directory", str(directory)),
            *("--script", str(directory / "script.yaml"), "--counts", str(directory / "counts.csv")),
            *("--arrivals", str(directory / "arrivals.csv"), *flags),
        ]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if found := re.fullmatch(r"listening on 127\.0\.0\.1:(\d+)\n", line):
                started.append(Simulator(directory, process, int(found[1])))
                return started[-1]
        pytest.fail("the simulator does not listen")

    yield start
    for simulator in started:
        simulator.end()


@dataclass
class Campaign:
    """A campaign for a simulator, and a run directory for it."""

    path: pathlib.Path
    run_dir: pathlib.Path
    simulator: Simulator
    arguments: dict[str, Any] = field(default_factory=dict)


@pytest.fixture
def make_campaign(tmp_path: pathlib.Path) -> Callable[..., Campaign]:
    def make(simulator: Simulator, **settings: object) -> Campaign:
        (tmp_path / "template.json").write_text('{"aps":{"alert":"Hello, {{name}}"}}', encoding="utf-8")
        content = {
            "template": "template.json",
            "topic": TOPIC,
            "to": f"127.0.0.1:{simulator.port}",
            "key_file": str(simulator.directory / "AuthKey.p8"),
            "key_id": "SIMULATOR1",
            "team_id": "SIMTEAM001",
            "ca_file": str(simulator.directory / "ca.pem"),
            **settings,
        }
        path = tmp_path / "campaign.yaml"
        path.write_text(json.dumps({name: value for name, value in content.items() if value is not None}))
        return Campaign(path, tmp_path / "run", simulator)

    return make


@dataclass
class Program:
    """A program of the tests that sends a run, in a process group of its own."""

    process: subprocess.Popen[str]

    def result(self, seconds: float = 900) -> dict[str, Any]:
        """Waits for its end. Returns what it printed on its last line."""
        output, _ = self.process.communicate(timeout=seconds)
        assert self.process.returncode == 0, output
        found: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
        return found

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def start_program() -> Iterator[Callable[..., Program]]:
    """Starts programs/NAME.py with one argument, JSON of the keywords. `log` gets what it writes to standard error."""
    started: list[Program] = []

    def start(name: str, campaign: Campaign, *, log: IO[str] | None = None, **arguments: object) -> Program:
        content = {
            "campaign": str(campaign.path),
            "run_dir": str(campaign.run_dir),
            **campaign.arguments,
            **arguments,
        }
        command = [sys.executable, str(PROGRAMS / f"{name}.py"), json.dumps(content)]
        program = Program(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True))
        started.append(program)
        return program

    yield start
    for program in started:
        if program.process.poll() is None:
            program.kill()


#: Texts that CSV, JSON, spreadsheets or terminals treat in their own ways.
TEXTS = [
    '"quoted"',
    "line\nbreak",
    "\r",
    "a, b; c",
    "émoji 👩‍👩‍👧",
    "",
    "back\\slash",
    "back\\\\slashes\\\n\\n",
    "\\u0041\t",
    "\u2028",
    "\x1b[2J\x85",
    " ",
    " x ",
    "{}",
    "=A1",
    "\uff1dA1",
    "'=A1",
    "'a\\n",
    "'",
    "-5",
    "-5+1",
]


def tokens(count: int, start: int = 0) -> list[str]:
    """Device tokens of 32 bytes, all different."""
    return [f"{number:08x}" * 8 for number in range(start + 1, start + count + 1)]


def rows(count: int) -> list[dict[str, str]]:
    return [{"token": token, "name": f"somebody {number}"} for number, token in enumerate(tokens(count), 1)]


def documented(page: str, text: str) -> str:
    """The block of code of a page below docs/integrate/ that has a text."""
    blocks = re.findall(
        r"(?:^    .*\n|^\n(?=    ))+",
        (ROOT / "docs" / "integrate" / page).read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    (found,) = (block for block in blocks if text in block)
    return textwrap.dedent(found)


def wait_until(condition: Callable[[], bool], seconds: float = 600) -> None:
    """Looks 50 times a second. The looks are counted: on a busy machine they are late, as is what is waited for."""
    looks = 0
    while not condition():
        looks += 1
        assert looks < seconds * 50, "it did not come to this"
        time.sleep(0.02)


def senders_of(run_dir: pathlib.Path) -> list[int]:
    """The ids of the processes that send parts of a run: those whose arguments name its directory."""
    found: list[int] = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if (
            len(arguments) > 1
            and arguments[1] == b"run"
            and str(run_dir / "parts").encode() in b"\0".join(arguments)
        ):
            found.append(int(entry.name))
    return found


def results_of(run_dir: pathlib.Path) -> Counter[str]:
    """How many result lines each token has, in all parts."""
    lines: Counter[str] = Counter()
    for path in run_dir.glob("parts/*/results.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            # At once: the header row may come while it is read.
            lines.update(line["token"] for line in csv.DictReader(io.StringIO(file.read(), newline="")))
    return lines


def accepted_of(run_dir: pathlib.Path) -> set[str]:
    """The tokens of the rows that were accepted."""
    found: set[str] = set()
    for path in run_dir.glob("parts/*/results.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            found.update(line["token"] for line in csv.DictReader(file) if line["outcome"] == "accepted")
    return found


def check_policy(campaign: Campaign, count: int, policy: str) -> None:
    """One result a row; with `report` no token twice, with `resend` none missing."""
    received = campaign.simulator.received()
    results = results_of(campaign.run_dir)
    assert set(results) == set(tokens(count))
    assert set(results.values()) == {1}
    accepted = accepted_of(campaign.run_dir)
    assert all(received[token][1] >= 1 for token in accepted)
    if policy == "report":
        assert max(requests for requests, _ in received.values()) == 1
    else:
        assert set(received) == set(tokens(count))
        assert accepted == set(tokens(count))
