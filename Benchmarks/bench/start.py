"""How long a run of one row takes: what a sender needs before its first push, and after its last one."""

import statistics

import peers
from bench.clients import Ours
from bench.figures import Figure
from bench.stage import CLIENT_CPU

RUNS = 15


def figures(stage):
    with stage.simulator() as port:
        usages = [Ours(stage, rows=1).measure(port).usage for _ in range(RUNS)]
    _, usage = zip(*(peers.measured([peers.BINARY, "--version"], cpu=CLIENT_CPU) for _ in range(RUNS)))
    cpu, wall = (statistics.median(getattr(one, name) * 1e3 for one in usages) for name in ("cpu", "wall"))
    version = statistics.median(one.cpu * 1e3 for one in usage)
    return [Figure("processor time of a run of one row, ms", cpu, form="{:.1f}", at_most=15,
                   note=f"{wall:.1f} ms of wall time; --version takes {version:.1f} ms")]
