"""System calls of the whole client, counted by the kernel's tracepoint."""

import statistics

import peers
from bench.clients import Ours
from bench.figures import Figure

NAME = "system calls per 1,000 notifications"
EVENT = "raw_syscalls:sys_enter"


def figure(stage, rounds):
    if peers.attempt("perf", "stat", "-e", EVENT, "true").returncode != 0:
        return Figure(NAME, None, note=f"perf cannot count {EVENT} here")
    counts = stage.directory / "system-calls"
    around = ["perf", "stat", "--event", EVENT, "--field-separator", ",", "--output", counts]
    found = []
    with stage.simulator() as port:
        for _ in range(rounds):
            Ours(stage, around=around).measure(port)
            line = next(line for line in counts.read_text().split("\n") if EVENT in line)
            found.append(int(line.split(",")[0]) * 1000 / stage.rows)
    return Figure(NAME, statistics.median(found), form="{:.1f}", at_most=12)
