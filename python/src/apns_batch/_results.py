"""The results of all parts: one line for each row."""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Iterator

from ._altered import plain
from ._layout import RunLayout
from ._manifest import Manifest

FIXED_COLUMNS: tuple[str, ...] = (
    "row",
    "token",
    "outcome",
    "status",
    "reason",
    "timestamp",
    "apns_id",
    "attempts",
    "apns_unique_id",
)


def result_rows(layout: RunLayout, manifest: Manifest) -> Iterator[dict[str, str]]:
    """Reads the lines of the parts that were begun, with the number of the part. Rows are numbered from 1 in each part."""
    for part in manifest.parts:
        for line in part_lines(layout, part.part):
            yield {"part": str(part.part), **line}


def results_of(layout: RunLayout, part: int) -> pathlib.Path:
    return layout.part(part) / "results.csv"


def part_lines(layout: RunLayout, part: int) -> Iterator[dict[str, str]]:
    """Reads the lines of a part, their texts as they were; none if it was not begun."""
    path = results_of(layout, part)
    if path.exists():
        with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
            for line in csv.DictReader(file):
                yield {plain(name): plain(field) for name, field in line.items()}
