"""The results of all parts: one line for each row."""

from __future__ import annotations

import csv
from collections.abc import Iterator

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
        path = layout.part(part.part) / "results.csv"
        if not path.exists():
            continue
        with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
            for line in csv.DictReader(file):
                yield {"part": str(part.part), **line}
