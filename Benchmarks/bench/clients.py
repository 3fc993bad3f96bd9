"""The senders that are compared. Each sends every row of the stage once, and is measured by the kernel's accounts."""

import dataclasses
import pathlib
import re
import sys
import tempfile

import peers
from bench.stage import CLIENT_CPU, HOST, STREAMS, TEMPLATE
from peers import ROOT

AIOAPNS = ROOT / "Benchmarks" / "peers" / "aioapns_client.py"


@dataclasses.dataclass
class Sample:
    """One run of one sender."""

    rows: int
    usage: peers.Usage
    summary: dict | None = None

    @property
    def micro(self):
        """Microseconds of processor time per notification."""
        return self.usage.cpu * 1e6 / self.rows

    @property
    def rate(self):
        """Notifications in a second."""
        return self.rows / self.usage.wall


class Ours:
    name = "apns-batch"

    def __init__(self, stage, *flags, cpus=CLIENT_CPU, around=(), rows=None, program=peers.BINARY, input=None):
        """`around`: a command that ours is an argument of, such as a profiler. `input`: the same rows in another form."""
        self.stage, self.flags, self.cpus, self.around, self.program = stage, flags, cpus, around, program
        self.rows = rows or stage.rows
        self.input = input
        if "--lanes" not in flags:
            self.flags = ("--lanes", "1", *flags)

    def command(self, port, run_directory):
        return [
            *self.around, self.program, "send", "--input", self.input or self.stage.rows_file(self.rows), "--template", TEMPLATE,
            "--to", f"{HOST}:{port}", "--run-dir", run_directory, *peers.provider_flags(self.stage.directory),
            *self.flags,
        ]

    def measure(self, port):
        run_directory = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=self.stage.directory))
        text, usage = peers.measured(self.command(port, run_directory), cpu=self.cpus)
        summary = peers.summary(run_directory)
        if summary["accepted"] != self.rows:
            sys.exit(f"only {summary['accepted']} of {self.rows} rows were accepted\n{text}")
        for name in ("ledger", "results.csv"):
            (run_directory / name).unlink()
        return Sample(self.rows, usage, summary)


class H2load:
    name = "h2load"

    def __init__(self, stage, connections):
        self.stage, self.connections = stage, connections
        self.rows = stage.rows
        fields = {
            "authorization": stage.authorization(), "apns-topic": peers.TOPIC, "apns-push-type": "alert",
            "apns-priority": "10", "apns-id": "01234567-89ab-8def-8123-456789abcdef",
        }
        self.headers = [part for name, value in fields.items() for part in ("-H", f"{name}: {value}")]

    def command(self, port, connections, streams, requests):
        return [
            "h2load", "-t", "1", "-c", connections, "-m", streams, "-n", requests, "-i", self.stage.urls(port),
            "-d", self.stage.body, *self.headers,
        ]

    def measure(self, port):
        text, usage = peers.measured(
            self.command(port, self.connections, STREAMS, self.rows), cpu=CLIENT_CPU)
        accepted = re.search(r"status codes: (\d+) 2xx", text)
        # It does not repeat a stream that was refused; a few do not change its figures.
        if not accepted or int(accepted.group(1)) < 0.999 * self.rows:
            sys.exit(f"h2load: not all of {self.rows} requests succeeded\n{text}")
        return Sample(self.rows, usage)

    def start(self, port):
        """Microseconds per notification that it uses to start and to read its list: a run of one request."""
        _, usage = peers.measured(self.command(port, 1, 1, 1), cpu=CLIENT_CPU)
        return usage.cpu * 1e6 / self.rows


class Aioapns:
    """In an environment of its own; Python's sender that keeps the most requests under way."""

    name = "aioapns"

    def __init__(self, stage, python, rows):
        self.stage, self.python, self.rows = stage, python, rows

    def run(self, port, rows):
        text, usage = peers.measured([
            self.python, AIOAPNS, self.stage.rows_file(rows), TEMPLATE, f"{HOST}:{port}",
            self.stage.directory / "AuthKey.p8", peers.KEY_ID, peers.TEAM_ID, peers.TOPIC,
            self.stage.directory / "ca.pem",
        ], cpu=CLIENT_CPU)
        if int(text) != rows:
            sys.exit(f"aioapns: only {text} of {rows} were accepted")
        return usage

    def measure(self, port):
        return Sample(self.rows, self.run(port, self.rows))

    def start(self, port):
        """Microseconds per notification that it uses to start: a run of one row."""
        return self.run(port, 1).cpu * 1e6 / self.rows
