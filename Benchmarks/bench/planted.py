"""Shows that bounds can fail: plants one slowness after the other into a copy of the project, and measures there.

A slowness is a file Benchmarks/planted/NAME.patch that says what it breaks, which parts of scripts/bench measure it, and which
figures have to miss their bounds. It is found when each of them does, and a figure that misses its bound on this machine anyway
is a tenth worse. What a figure is without the slowness is measured first.
"""

import re
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


def bench(*options):
    done = subprocess.run(
        [COPY.path / "scripts" / "bench", "--no-build", "--quick", *options], stdout=subprocess.PIPE, text=True, check=False)
    return done.stdout.splitlines()


def measured(parts):
    """The lines of the tables, measured in the copy. Encrypted rows, which are no part of the whole, have one of their own."""
    table = bench("--sealed") if "sealed" in parts else []
    only = [f"--only={part}" for part in parts if part != "sealed"]
    return table + (bench(*only) if only else [])


def lines_of(figures, table):
    return [next((line for line in table if line.startswith(figure)), f"{figure}: not measured") for figure in figures]


def noticed(without, planted):
    """Whether a figure's bound is missed because of the slowness, by its lines without it and with it."""
    if " MISSED" not in planted:
        return False
    if " MISSED" not in without:
        return True
    (_, before, bound, *_), (_, after, *_) = (re.split(r"\s{2,}", line.strip()) for line in (without, planted))
    small, large = (after, before) if bound.startswith("≥") else (before, after)
    return float(large) > 1.1 * float(small)


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
        pairs = list(zip(lines_of(patch.values("Figure"), before), judge(patch)))
        found = all(noticed(*pair) for pair in pairs)
        good = good and found
        print(f"{'found' if found else 'SURVIVED'}: {patch.name}: {patch.what}")
        for old, new in pairs:
            print(f"    without {old}\n    with    {new}", flush=True)
    return good
