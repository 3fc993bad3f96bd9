"""Where the client's processor time goes, by room, from samples of perf.

The bound is on what makes a request out of a row and remembers that it did. The lines of results.csv are counted apart.
"""

import collections
import re

import peers
from bench.clients import Ours
from bench.figures import Figure

NAME = "share of CSV, JSON, rules and ledger in CPU time"
# What the threads beside the lanes do where no frame of theirs says more.
THREADS = {"reader": "CSV", "writer": "results"}
THREAD_ROOMS = [
    ("CSV", re.compile(r"\$s9CSVReader")),
    ("results", re.compile(r"\$s9APNSBatch\d+(RunLedgerC5write|ResultLines)")),
    ("ledger", re.compile(r"\$s9APNSBatch\d+(RunLedger|LedgerEncoder|ChunkFeed)")),
]
ROOMS = [
    ("CSV", re.compile(r"\$s9CSVReader|FeedRows")),
    ("rules", re.compile(
        r"\$s21APNSBatchNotification\d+(DeviceToken|MessageID|CollapseID|Topic|Priority|PushType|Expiration|GivenExp|Decimal)"
        r"|\$s9APNSBatch\d+(RowPreparer|Header)")),
    ("JSON", re.compile(r"\$s21APNSBatchNotification")),
    ("lane", re.compile(r"\$s(9APNSBatch|13LaneTransport)|\$sSo")),
    ("HTTP/2", re.compile(r"h2_|on_|.*libnghttp2")),
    ("TLS", re.compile(r"tls_|.*lib(ssl|crypto)")),
    ("loop", re.compile(r"reactor_|io_uring|epoll|.*liburing")),
    ("transport", re.compile(r".*apns-batch\)")),
]
ROWS_OWN = ("CSV", "JSON", "rules", "ledger")


def room(thread, frames):
    """Of one sample: by the innermost frame that is anybody's; what libraries and kernel do is their caller's."""
    rooms = THREAD_ROOMS if thread in THREADS else ROOMS
    for frame in frames:
        for name, pattern in rooms:
            if pattern.match(frame):
                return name
    return THREADS.get(thread, "kernel and others")


def read(text):
    """Samples by room."""
    found = collections.Counter()
    for sample in text.split("\n\n"):
        lines = sample.strip("\n").split("\n")
        if lines[0].strip():
            frames = [line.split(None, 1)[1] for line in lines[1:] if len(line.split(None, 1)) == 2]
            found[room(lines[0].strip(), frames)] += 1
    return found


def figures(stage):
    data = stage.directory / "perf.data"
    if peers.attempt("perf", "record", "-e", "cpu-clock", "-o", data, "true").returncode != 0:
        return [Figure(NAME, None, note="perf cannot sample here")]
    around = ["perf", "record", "--event", "cpu-clock", "--freq", "2000", "-g", "--output", data, "--"]
    with stage.simulator() as port:
        Ours(stage, around=around).measure(port)
    found = read(peers.attempt("perf", "script", "-i", data, "-F", "comm,ip,sym,dso").stdout)
    total = sum(found.values())
    parts = [Figure(f"  of CPU time: {name}", count / total) for name, count in found.most_common()]
    return [Figure(NAME, sum(found[name] for name in ROWS_OWN) / total, at_most=0.12), *parts]
