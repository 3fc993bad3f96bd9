"""What a row costs by the form of the input, beside other readers of the same file, in processor time."""

import json
import statistics
import sys

import peers
from bench.figures import Figure
from bench.stage import CLIENT_CPU
from peers import ROOT

PROGRAM = peers.BINARY.with_name("apns-batch-micro-benchmarks")
READER = ROOT / "scripts" / "lib" / "micro_peers.py"
SUFFIXES = {"gzip": "gz", "zstd": "zst"}
DUCKDB = "import duckdb, sys; print(duckdb.sql(f\"SELECT count(name) FROM {sys.argv[2]}('{sys.argv[1]}')\").fetchall()[0][0])"


def micro(command, rows, rounds):
    """The median of what a program takes for a row, in nanoseconds, its start included. It prints the number of rows."""
    times = []
    for _ in range(rounds):
        text, usage = peers.measured(command, cpu=CLIENT_CPU)
        if int(text) != rows:
            sys.exit(f"{command} found {text.strip()} rows, not {rows}")
        times.append(usage.cpu * 1e9 / rows)
    return statistics.median(times)


def others(path, packing, rows, rounds):
    """(name, nanoseconds for a row; None and why)"""
    tool = {"gzip": "zcat", "zstd": "zstd -dc"}.get(packing, "cat")
    module, kind, function = ("json", "objects", "read_ndjson") if packing == "ndjson" else ("csv", "count", "read_csv")
    command = f"{tool} '{path}' | /usr/bin/python3 {READER} {kind} /dev/stdin"
    yield f"{tool} and Python's {module}", micro(["/bin/sh", "-c", command], rows, rounds), ""
    python, problem = peers.python_with("duckdb")
    yield "DuckDB", micro([python, "-c", DUCKDB, path, function], rows, rounds) if python else None, problem


def against(path, packing, row, rows, rounds):
    for name, nanoseconds, problem in others(path, packing, rows, rounds):
        ratio = nanoseconds and row / nanoseconds
        yield Figure(f"a row, {packing}, against {name}", ratio,
                     note=f"{nanoseconds:.0f} ns with its start" if nanoseconds else problem)


def figures(stage, rounds):
    rows = stage.rows
    text, _ = peers.measured(
        [PROGRAM, "--only", "inputs", "--rows", rows, "--data", stage.directory, "--json"], cpu=CLIENT_CPU)
    ours = {figure["name"].removeprefix("inputs."): figure["value"] for figure in json.loads(text)}
    for packing in ("plain", *SUFFIXES):
        row = ours[f"{packing}.row"]
        note = f"{ours['row.bytes'] * 1000 / row:.0f} MB/s, unpacked"
        yield Figure(f"a row, {packing}, ns", row, "{:.1f}", note=note)
        if packing != "plain":
            library = ours[f"{packing}.library"]
            yield Figure(f"a row, {packing}, against the library and a plain row", row / (library + ours["plain.row"]),
                         at_most=1.15, note=f"the library alone takes {library:.1f} ns")
        path = stage.directory / ("plain.csv" + (f".{SUFFIXES[packing]}" if packing != "plain" else ""))
        yield from against(path, packing, row, rows, rounds)
    for kind in ("plain", "quoted"):
        row, size = ours[f"ndjson.{kind}.row"], ours[f"ndjson.{kind}.bytes"]
        yield Figure(f"a row, NDJSON, {kind}, against CSV", row / ours[f"{kind}.row"], at_most=1.5,
                     note=f"{row:.1f} ns, {size * 1000 / row:.0f} MB/s")
    yield from against(stage.directory / "plain.ndjson", "ndjson", ours["ndjson.plain.row"], rows, rounds)
