"""Instructions and heap allocations per notification, and instructions per row of a check, by callgrind: what a longer run has more
than a shorter one.

Under callgrind the client is fifty times slower than the server, so that every poll finds its answers: two runs over the
same input differ by little. The epoll loop, because valgrind does not know io_uring.
"""

import re
import sys

import peers
from bench.clients import Ours
from bench.figures import Figure
from bench.stage import compiled

ROWS = (20_000, 40_000)
THRESHOLD = peers.ROOT / "Benchmarks" / "instructions.txt"
CHECK_ROWS = (2_000, 12_000)
CHECK_THRESHOLDS = peers.ROOT / "Benchmarks" / "instructions-of-checks.txt"
TOLERANCE = 0.05
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc", "memalign"}
# Their allocations are their own affair.
FOREIGN = re.compile(r"lib(crypto|ssl|nghttp2)\b")
# Swift's runtime makes the metadata of a generic type, finds a conformance, and the linker makes a thread's table once in a
# process, when they are first needed. On a busy machine that may be in the longer run alone.
ONCE = re.compile(r"MetadataCacheKey|GenericCacheEntry|ConformanceState|^allocate_dtv")

# So many more may come with time and not with rows, where the longer run takes much longer on a busy machine. What is
# allocated for rows, or for batches of them, is a hundred and more.
WITH_TIME = 10

# Below it are the threads on the way of a row; elsewhere memory comes and goes with time, as for the progress.
ROW_THREAD = re.compile(r"ChunkFeedV3run|OutcomeWriterC3run|LaneCrewC4work")


class Profile:
    """One run: instructions in all, and calls of the allocators on the way of a row, by object and function that calls."""

    def __init__(self, threads):
        self.instructions = 0
        self.allocations = {}
        threads = [ThreadProfile(thread) for thread in threads]
        if not any(thread.carries_rows for thread in threads):
            sys.exit(f"no thread of the profile is one of ours: {ROW_THREAD.pattern}")
        for thread in threads:
            self.add(thread)

    def add(self, thread):
        self.instructions += thread.instructions
        if thread.carries_rows:
            for caller, count in thread.allocations.items():
                self.allocations[caller] = self.allocations.get(caller, 0) + count


class ThreadProfile:
    def __init__(self, path):
        self.instructions = 0
        self.allocations = {}
        self.carries_rows = False
        self._read(path)

    def _read(self, path):
        place, called = {"ob": "", "fn": ""}, ""
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.rstrip("\n").partition("=")
                if key in place:
                    place[key] = value
                    self.carries_rows = self.carries_rows or bool(ROW_THREAD.search(value))
                elif key == "cfn":
                    called = value
                elif key == "calls" and called.split("'")[0] in ALLOCATORS:
                    caller = place["ob"], place["fn"]
                    self.allocations[caller] = self.allocations.get(caller, 0) + int(value.split()[0])
                elif line.startswith(("summary:", "totals:")):
                    self.instructions = int(line.split()[1])


def stripped(stage):
    """Without debug information, whose form valgrind 3.19 does not know."""
    program = stage.directory / "apns-batch"
    peers.run("strip", "--strip-debug", "-o", program, peers.BINARY)
    return program


def around(stage, out, *options):
    shim = compiled(stage.directory, "sigsuspend", "-shared", "-fPIC")
    return ["env", f"LD_PRELOAD={shim}", "valgrind", "--tool=callgrind", *options, f"--callgrind-out-file={out}"]


def profile(stage, port, program, rows):
    out = stage.directory / f"callgrind-{rows}"
    # A request may take long here; nothing is to be sent twice. Marks of the ledger come with time, and so fifty times as often
    # for a row as they should.
    Ours(stage, "--loop", "epoll", "--connections", "1", "--request-timeout", "600000", "--sync-interval", "60000",
         around=around(stage, out, "--separate-threads=yes", "--compress-strings=no"), rows=rows, program=program).measure(port)
    return Profile(out.parent.glob(out.name + "-*"))


def figures(stage):
    if peers.attempt("valgrind", "--version").returncode != 0:
        return [Figure("instructions per notification", None, note="no valgrind here")]
    with stage.simulator() as port:
        program = stripped(stage)
        few, many = (profile(stage, port, program, rows) for rows in ROWS)
    added = ROWS[1] - ROWS[0]
    each = (many.instructions - few.instructions) / added
    limit = float(THRESHOLD.read_text().split()[0])
    return [
        Figure("instructions per notification", each, form="{:.0f}",
               at_most=limit * (1 + TOLERANCE), note=f"committed: {limit:.0f}"),
        allocations(few, many, added),
        *check_figures(stage, program),
    ]


def check_figures(stage, program):
    """For clean rows of each kind, of which a check says nothing."""
    found = []
    for line in CHECK_THRESHOLDS.read_text().split("\n\n")[0].splitlines():
        kind, limit = line.split()
        few, many = (checked(stage, program, kind, rows) for rows in CHECK_ROWS)
        found.append(Figure(
            f"instructions per checked row, {kind}", (many - few) / (CHECK_ROWS[1] - CHECK_ROWS[0]), form="{:.0f}",
            at_most=float(limit) * (1 + TOLERANCE), note=f"committed: {limit}"))
    return found


def checked(stage, program, kind, rows):
    """The instructions of a check."""
    path, out = stage.directory / f"{kind}-{rows}.csv", stage.directory / f"callgrind-{kind}-{rows}"
    peers.run(
        peers.ROOT / "scripts" / "make-rows", rows, "--clean", *([] if kind == "template" else [f"--{kind}"]), "-o", path)
    command = [*around(stage, out), program, "check", "--input", path, "--topic", "com.example.app", "--expiration", "1h",
               "--findings", stage.directory / "findings.csv"]
    if kind != "raw":
        command += ["--template", peers.ROOT / "Tests" / "Fixtures" / "campaign" / f"{kind}.json"]
    text, _ = peers.measured(command)
    last = text.strip().split("\n")[-1]
    if not last.startswith(f"rows={rows} good={rows} bad=0 with_warnings=0 "):
        sys.exit(f"{kind}: {last}")
    return ThreadProfile(out).instructions


def allocations(few, many, added):
    more = {}
    for caller, count in many.allocations.items():
        count -= few.allocations.get(caller, 0)
        program, function = caller
        if count > 0 and not FOREIGN.search(program) and not ONCE.search(function):
            more[caller] = count
    for (program, function), count in sorted(more.items(), key=lambda item: -item[1])[:10]:
        print(f"    {count:>8} allocations in {added} rows: {function} ({program})", file=sys.stderr)
    count = sum(more.values())
    if count <= WITH_TIME:
        count = 0
    return Figure("heap allocations per 10,000 rows", float(round(count * 10_000 / added)), form="{:.0f}", at_most=0)
