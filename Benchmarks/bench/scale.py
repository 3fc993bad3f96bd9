"""Ten times the rows: the memory must stay, and the time must be ten times as long."""

import statistics

from bench.clients import Ours
from bench.figures import Figure
from peers import say

MIB = 2**20


def figures(stage, rounds, rows):
    """`rows` against a tenth of them."""
    with stage.simulator() as port:
        few = [Ours(stage, rows=rows // 10).measure(port) for _ in range(rounds)]
        many = Ours(stage, rows=rows).measure(port)
    peaks = [max(sample.usage.peak_bytes for sample in few), many.usage.peak_bytes]
    wall = statistics.median(sample.usage.wall for sample in few)
    say(f"{rows} rows: {many.usage.wall:.1f} s and {peaks[1] / MIB:.1f} MiB; a tenth: {wall:.1f} s and {peaks[0] / MIB:.1f} MiB")
    return [
        Figure(f"peak RSS at {rows} rows, MiB", peaks[1] / MIB, form="{:.1f}", at_most=40),
        Figure(f"of that, beyond {rows // 10} rows, MiB", abs(peaks[1] - peaks[0]) / MIB, form="{:.1f}", at_most=4),
        Figure(f"time at {rows} rows against 10 × a tenth", many.usage.wall / (10 * wall), at_most=1.05),
        Figure("the same of processor time", many.micro / statistics.median(sample.micro for sample in few)),
    ]
