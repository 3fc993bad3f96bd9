"""Runs in parts that Spark sends: executors, workers and drivers are killed, paused and repeated on the way.

Each test compares the results with what the simulator received, token by token.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from conftest import (
    TEXTS,
    Campaign,
    Program,
    Simulator,
    check_policy,
    results_of,
    senders_of,
    tokens,
    wait_until,
)

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark

Start = Callable[..., Simulator]
Make = Callable[..., Campaign]
Run = Callable[..., Program]

SLOW = "answers_per_second: 3000\n"
PATIENT = {"spark.task.maxFailures": "30", "spark.deploy.maxExecutorRetries": "-1"}


def children_of(process: int) -> list[int]:
    """All processes below a process."""
    found = []
    with contextlib.suppress(OSError):
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *children_of(int(child))]
    return found


def parent_of(process: int) -> int:
    return int(pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


def executors_of(process: int) -> list[int]:
    """The executors below a process, which are JVMs of their own."""
    found = []
    for child in children_of(process):
        with contextlib.suppress(OSError):
            command = pathlib.Path(f"/proc/{child}/cmdline").read_bytes()
            if command.split(b"\0")[0].endswith(b"java") and b"CoarseGrainedExecutorBackend" in command:
                found.append(child)
    return found


def executor_of(sender: int, program: Program) -> int:
    """The executor that a sender is below of."""
    executors, process = executors_of(program.process.pid), sender
    while process not in executors:
        process = parent_of(process)
    return process


def kill(process: int, number: int = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def wait_for_senders(campaign: Campaign, count: int = 1, seconds: float = 600) -> list[int]:
    wait_until(lambda: len(senders_of(campaign.run_dir)) >= count, seconds)
    return senders_of(campaign.run_dir)


def wait_for_results(campaign: Campaign, count: int) -> None:
    wait_until(lambda: results_of(campaign.run_dir).total() >= count, 600)


def check_once(campaign: Campaign, count: int) -> None:
    """Every token has one result and got one request."""
    received = campaign.simulator.received()
    results = results_of(campaign.run_dir)
    assert set(results) == set(tokens(count))
    assert set(results.values()) == {1}
    assert set(received) == set(tokens(count))
    assert {requests for requests, _ in received.values()} == {1}


def test_plain(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator(), result_columns=["name"])
    result = start_program("spark", campaign, rows=20_000, senders=2, parts=6, reads=5).result()
    assert "error" not in result, result
    assert (result["rows"], result["accepted"], result["parts"], result["parts_complete"]) == (
        20_000,
        20_000,
        6,
        6,
    )
    # To read results, again and again, sends nothing.
    assert (result["read"], result["tokens"], result["sound"]) == (20_000, 20_000, True)
    assert result["columns"][:4] == ["part", "row", "token", "outcome"]
    assert result["columns"][-1] == "name"
    check_once(campaign, 20_000)
    assert (campaign.run_dir / "report.html").exists()


@pytest.mark.parametrize("policy", ["report", "resend"])
def test_executors_killed(
    start_simulator: Start, make_campaign: Make, start_program: Run, policy: str
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program(
        "spark", campaign, rows=60_000, senders=2, parts=4, on_unknown=policy, conf=PATIENT
    )
    kills = 0
    while kills < 5:
        wait_for_senders(campaign)
        time.sleep(0.3 + 0.37 * kills)
        if program.process.poll() is not None:
            break
        executors = executors_of(program.process.pid)
        if executors:
            kill(executors[kills % len(executors)])
            kills += 1
        time.sleep(1)
    assert kills == 5
    assert program.result()["rows"] == 60_000
    check_policy(campaign, 60_000, policy)


def test_a_killed_worker_leaves_no_sender(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program(
        "spark", campaign, rows=30_000, senders=1, parts=1, on_unknown="report", conf=PATIENT
    )
    for kill_executor in (False, True):
        (sender,) = wait_for_senders(campaign)
        wait_for_results(campaign, 3000)
        worker = parent_of(sender)
        kill(executor_of(sender, program) if kill_executor else worker)
        wait_until(lambda sender=sender: sender not in senders_of(campaign.run_dir), 3)  # type: ignore[misc]
    assert program.result()["rows"] == 30_000
    check_policy(campaign, 30_000, "report")


def test_a_paused_sender_keeps_its_part(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program(
        "spark", campaign, rows=20_000, senders=1, parts=1, on_unknown="report", conf=PATIENT
    )
    (zombie,) = wait_for_senders(campaign)
    wait_for_results(campaign, 2000)
    kill(zombie, signal.SIGSTOP)
    kill(parent_of(zombie))
    before = results_of(campaign.run_dir).total()
    # Long enough for Spark to try the task again, which then waits.
    time.sleep(6)
    assert results_of(campaign.run_dir).total() == before, "somebody sends while the lock is held"
    kill(zombie, signal.SIGCONT)
    assert program.result()["rows"] == 20_000
    check_policy(campaign, 20_000, "report")


def test_random_input(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator(SLOW), result_columns=["name"])
    arguments: dict[str, Any] = {"rows": 30_000, "senders": 2, "parts": 6, "frame": "random", "conf": PATIENT}
    first = start_program("spark", campaign, **arguments)
    # Once while the rows are frozen, and once while they are sent.
    wait_until(
        lambda: bool(executors_of(first.process.pid)) and (campaign.run_dir / "campaign").exists(), 120
    )
    time.sleep(2)
    kill(executors_of(first.process.pid)[0])
    wait_for_senders(campaign)
    # Rows of which nothing was sent may be frozen anew.
    wait_until(lambda: any(campaign.run_dir.glob("parts/*/ledger")), 120)
    frozen = {path.name: path.read_bytes() for path in campaign.run_dir.glob("input/part-*")}
    first.kill()
    wait_until(lambda: not senders_of(campaign.run_dir), 10)
    assert start_program("spark", campaign, on_unknown="report", **arguments).result()["rows"] == 30_000
    assert frozen == {path.name: path.read_bytes() for path in campaign.run_dir.glob("input/part-*")}
    check_policy(campaign, 30_000, "report")


def test_a_killed_driver_is_started_again(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator(SLOW), not_after="2h")
    arguments: dict[str, Any] = {"rows": 40_000, "senders": 2, "parts": 6, "on_unknown": "report"}
    # Where the executors are, it is another day.
    arguments["conf"] = {"spark.executorEnv.TZ": "Etc/GMT+12"}
    first = start_program("spark", campaign, **arguments)
    wait_for_senders(campaign)
    wait_until(lambda: any(campaign.run_dir.glob("parts/*/summary.json")), 600)
    first.kill()
    wait_until(lambda: not senders_of(campaign.run_dir), 10)
    frozen = {path: path.stat().st_mtime_ns for path in campaign.run_dir.glob("input/*")}
    result = start_program("spark", campaign, **arguments).result()
    assert result["rows"] == 40_000
    assert frozen == {path: path.stat().st_mtime_ns for path in campaign.run_dir.glob("input/*")}
    check_policy(campaign, 40_000, "report")


def test_of_two_drivers_one_sends(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    arguments: dict[str, Any] = {"rows": 60_000, "senders": 2, "parts": 4}
    first = start_program("spark", campaign, **arguments)
    # It has not ended before the second one begins, however long that takes.
    senders = wait_for_senders(campaign)
    for sender in senders:
        kill(sender, signal.SIGSTOP)
    assert start_program("spark", campaign, **arguments).result()["error"] == "RunBusyError"
    for sender in senders:
        kill(sender, signal.SIGCONT)
    assert first.result()["rows"] == 60_000
    check_once(campaign, 60_000)


def test_values_arrive_as_they_are(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    texts = [*TEXTS, None]
    campaign = make_campaign(start_simulator(), result_columns=["name", "=a.`b"])
    result = start_program("spark", campaign, frame="texts", texts=texts, parts=3).result()
    assert result.get("accepted") == len(texts), result
    check_once(campaign, len(texts))
    # An empty field is NULL.
    assert result["names"] == {
        token: text or None for token, text in zip(tokens(len(texts)), texts, strict=True)
    }
    assert result["same"] == result["names"]
    bodies = list(payloads_of(campaign))
    expected = list(payloads_from_csv(campaign, texts))
    assert sorted(bodies) == sorted(expected)


def payloads_of(campaign: Campaign) -> Iterator[str]:
    """The payloads of the frozen rows, as the command renders them."""
    for path in sorted(campaign.run_dir.glob("input/part-*")):
        if path.stat().st_size > 0:
            yield from rendered(campaign, path)


def payloads_from_csv(campaign: Campaign, texts: list[str | None]) -> Iterator[str]:
    """The payloads of the same rows, of a CSV file on one machine."""
    path = campaign.path.parent / "rows.csv"
    quoted = [(text or "").replace('"', '""') for text in texts]
    lines = [f'{token},"{text}","{text}"\n' for token, text in zip(tokens(len(texts)), quoted, strict=True)]
    path.write_text("token,name,=a.`b\n" + "".join(lines), encoding="utf-8", newline="")
    yield from rendered(campaign, path)


def rendered(campaign: Campaign, path: pathlib.Path) -> list[str]:
    command = [os.environ["APNS_BATCH"], "render", str(campaign.path), "--input", str(path), "--rows", "1000"]
    # Some of the values have a backslash before a quote or a line end, which the file alone does not explain.
    command += ["--escape", "none"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line for line in done.stdout.splitlines() if line.startswith('{"aps"') or '"aps"' in line]


def test_a_fatal_answer_stops_all_senders(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    script = f"{SLOW}rules: [{{ share: 0.0003, status: 403, reason: InvalidProviderToken }}]\n"
    campaign = make_campaign(start_simulator(script))
    program = start_program("spark", campaign, rows=60_000, senders=2, parts=2)
    wait_until(lambda: (campaign.run_dir / "stop").exists(), 600)
    wait_until(lambda: not senders_of(campaign.run_dir), 4)
    result = program.result()
    assert result["error"] == "SendingStoppedError", result
    assert "InvalidProviderToken" in result["text"]
    received = campaign.simulator.received()
    assert len(received) < 60_000
    assert max(requests for requests, _ in received.values()) == 1


def test_the_rate_is_that_of_all_senders(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator())
    result = start_program("spark", campaign, rows=60_000, senders=2, parts=6, rate=10_000).result()
    assert result["rows"] == 60_000
    check_once(campaign, 60_000)
    assert 5000 < campaign.simulator.largest_second() <= 10_500


def test_the_token_is_replaced(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("spark", campaign, rows=30_000, senders=2, parts=6, token_interval=1)
    seen: set[bytes] = set()
    while program.process.poll() is None:
        with contextlib.suppress(OSError):
            seen.add((campaign.run_dir / "token").read_bytes())
        time.sleep(0.2)
    assert program.result()["reasons"] == {}
    assert len(seen) > 2
    check_once(campaign, 30_000)


def test_a_sender_that_always_fails_is_named(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("spark", campaign, rows=30_000, senders=1, parts=1)
    failures = 0
    while failures < 4 and program.process.poll() is None:
        senders = senders_of(campaign.run_dir)
        for sender in senders:
            time.sleep(0.5)
            kill(sender)
            failures += 1
        time.sleep(0.05)
    result = program.result()
    assert "part 0" in result.get("text", ""), result
    campaign.arguments = {"on_unknown": "report"}
    assert start_program("spark", campaign, rows=30_000).result()["rows"] == 30_000


@dataclass
class Cluster:
    """A standalone master, and two workers that have addresses of their own. The second one has mounts of its own, too."""

    master: str
    second: int
    """The process of the second worker."""
    folder: pathlib.Path
    """A folder that both workers see, unless it is hidden from the second one."""

    def mount(self, *command: str) -> None:
        """Runs a command among the mounts of the second worker."""
        subprocess.run(["/usr/bin/nsenter", "-t", str(self.second), "-m", *command], check=True)

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """The second worker has lost the mount of the folder, and sees an empty one."""
        self.mount("mount", "-t", "tmpfs", "none", str(self.folder))
        try:
            yield
        finally:
            self.mount("umount", "-l", str(self.folder))

    @contextlib.contextmanager
    def read_only(self) -> Iterator[None]:
        self.mount("mount", "--bind", str(self.folder), str(self.folder))
        self.mount("mount", "-o", "remount,ro,bind", str(self.folder))
        try:
            yield
        finally:
            self.mount("umount", "-l", str(self.folder))


@pytest.fixture
def cluster(tmp_path: pathlib.Path) -> Iterator[Cluster]:
    import pyspark  # noqa: PLC0415

    home = pathlib.Path(pyspark.__file__).parent
    folder = tmp_path / "shared"
    folder.mkdir()
    common = {"SPARK_HOME": str(home), "SPARK_LOCAL_DIRS": str(tmp_path), "SPARK_DAEMON_MEMORY": "512m"}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    master = f"spark://127.0.0.1:{port}"
    processes: list[subprocess.Popen[bytes]] = []

    def start(host: str, kind: str, *flags: str, before: tuple[str, ...] = ()) -> None:
        command = [
            *before,
            str(home / "bin" / "spark-class"),
            f"org.apache.spark.deploy.{kind}",
            "--host",
            host,
        ]
        environment = {**os.environ, **common, "SPARK_LOCAL_IP": host}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        processes.append(
            subprocess.Popen([*command, "--webui-port", "0", *flags], env=environment, **quiet)  # type: ignore[call-overload]
        )

    try:
        start("127.0.0.1", "master.Master", "--port", str(port))
        time.sleep(2)
        for host, before in (("127.0.0.2", ()), ("127.0.0.3", ("unshare", "-m"))):
            flags = ("-c", "1", "-m", "1g", "-d", str(tmp_path / host), master)
            start(host, "worker.Worker", *flags, before=before)
        yield Cluster(master, processes[-1].pid, folder)
    finally:
        for process in reversed(processes):
            for child in children_of(process.pid):
                kill(child, signal.SIGTERM)
            process.terminate()
            process.wait(30)


BOTH_WORKERS = {
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "600s",
}


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts need root")
def test_a_worker_that_does_not_share_the_directory(
    cluster: Cluster, start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    campaign.run_dir = cluster.folder / "run"
    arguments: dict[str, Any] = {"rows": 40_000, "senders": 2, "parts": 10, "on_unknown": "report"}
    arguments |= {"master": cluster.master, "conf": BOTH_WORKERS}
    for wrong in (cluster.hidden, cluster.read_only):
        with wrong():
            result = start_program("spark", campaign, **arguments).result()
        assert result["error"] == "StorageError", result
        assert str(campaign.run_dir) in result["text"]
        assert not (campaign.run_dir / "manifest.json").exists()
        assert not (campaign.run_dir / "parts").exists()
    program = start_program("spark", campaign, **arguments)
    wait_for_senders(campaign, 2)
    wait_until(lambda: len(list(campaign.run_dir.glob("parts/*/summary.json"))) >= 2)
    with cluster.hidden():
        result = program.result()
    assert result["error"] == "StorageError", result
    # The other worker ends, too, long before it has sent all.
    assert 0 < results_of(campaign.run_dir).total() < 36_000
    assert start_program("spark", campaign, **arguments).result()["rows"] == 40_000
    check_policy(campaign, 40_000, "report")


def test_the_configuration_of_a_session_changes_nothing(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator())
    hadoop = "spark.hadoop.mapreduce"
    conf = {
        f"{hadoop}.output.fileoutputformat.compress": "true",
        f"{hadoop}.output.fileoutputformat.compress.codec": "org.apache.hadoop.io.compress.GzipCodec",
        f"{hadoop}.fileoutputcommitter.marksuccessfuljobs": "false",
        "spark.sql.files.maxRecordsPerFile": "500",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "300",
        "spark.sql.adaptive.enabled": "true",
        "spark.sql.adaptive.coalescePartitions.minPartitionSize": "1g",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "1g",
        "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
        "spark.sql.session.timeZone": "Europe/Berlin",
    }
    campaign.run_dir.mkdir(mode=0o755)
    result = start_program(
        "spark", campaign, master="local[2]", rows=3000, senders=2, parts=6, conf=conf, expect_rows=3000
    ).result()
    assert (result.get("rows"), result.get("left")) == (3000, 0), result
    check_once(campaign, 3000)
    frozen = list(campaign.run_dir.glob("input/*"))
    assert len(frozen) == 6
    assert {path.stat().st_mode & 0o777 for path in frozen} == {0o600}
    assert not list(campaign.run_dir.glob("input/.*"))


def test_a_straggler_keeps_no_parts(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    conf = {
        "spark.speculation": "true",
        "spark.speculation.multiplier": "1.1",
        "spark.speculation.quantile": "0.1",
        "spark.speculation.interval": "200ms",
        "spark.speculation.minTaskRuntime": "1s",
    }
    program = start_program("spark", campaign, rows=20_000, senders=2, parts=5, conf=conf)
    slow = wait_for_senders(campaign, 2)[0]
    kill(slow, signal.SIGSTOP)
    # The other sender takes all parts but that of the slow one.
    wait_until(lambda: len(list(campaign.run_dir.glob("parts/*/summary.json"))) == 4, 600)
    time.sleep(2)
    assert senders_of(campaign.run_dir) == [slow]
    kill(slow, signal.SIGCONT)
    assert program.result()["rows"] == 20_000
    check_once(campaign, 20_000)


def twins(campaign: Campaign) -> list[int]:
    """The senders of the part that has more than one of them."""
    by_part: dict[str, list[int]] = {}
    for sender in senders_of(campaign.run_dir):
        with contextlib.suppress(OSError):
            arguments = pathlib.Path(f"/proc/{sender}/cmdline").read_text().split("\0")
            by_part.setdefault(arguments[arguments.index("--run-dir") + 1], []).append(sender)
    return next((senders for senders in by_part.values() if len(senders) > 1), [])
