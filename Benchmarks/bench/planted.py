"""Shows that bounds can fail: plants one slowness after the other into a copy of the project, and measures there.

A slowness is a file Benchmarks/planted/NAME.patch that says what it breaks, which parts of scripts/bench measure it, and which
figures have to miss their bounds. It is found when each of them does. What a figure is without it is measured first.
"""

import subprocess

import planting
from peers import ROOT, say

PLANTED = ROOT / "Benchmarks" / "planted"
COPY = planting.Copy(ROOT / ".build-planted" / "tree")
PRODUCTS = ("apns-batch", "apns-batch-micro-benchmarks", "apns-batch-library-benchmarks")


def build():
    for product in PRODUCTS:
        if error := COPY.build("-c", "release", "--product", product):
            return error
    return ""


def measured(parts):
    """The lines of the table, measured in the copy."""
    only = [f"--only={part}" for part in parts]
    done = subprocess.run(
        [COPY.path / "scripts" / "bench", "--no-build", "--quick", *only], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.splitlines()


def lines_of(figures, table):
    return [next((line for line in table if line.startswith(figure)), f"{figure}: not measured") for figure in figures]


def judge(patch):
    with patch.planted(COPY, build) as problem:
        if problem:
            return [problem]
        return lines_of(patch.values("Figure"), measured(patch.value("Part").split()))


def prove(only):
    """Whether every slowness was found."""
    patches = planting.chosen(PLANTED, planting.Patch, only)
    say("building the copy")
    COPY.update()
    if error := build():
        raise SystemExit(f"the project does not build: {error}")
    before = measured(sorted({part for patch in patches for part in patch.value("Part").split()}))
    good = True
    for patch in patches:
        found = judge(patch)
        missed = all(" MISSED" in line for line in found)
        good = good and missed
        print(f"{'found' if missed else 'SURVIVED'}: {patch.name}: {patch.what}")
        for old, new in zip(lines_of(patch.values("Figure"), before), found):
            print(f"    without {old}\n    with    {new}", flush=True)
    return good
