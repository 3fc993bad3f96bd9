"""Checks that a run in parts has one result for each row."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field

from ._errors import StorageError
from ._layout import RunLayout
from ._manifest import Manifest, Part
from ._results import part_lines
from ._summary import OUTCOMES


@dataclass(frozen=True)
class Verification:
    """What was found. A run is sound if nothing was, and complete if no row is left."""

    rows: int
    results: int
    faults: tuple[str, ...] = field(default=())

    @property
    def is_sound(self) -> bool:
        """Whether each row has at most one result, and the files agree."""
        return not self.faults

    @property
    def is_complete(self) -> bool:
        """Whether each row has a result."""
        return self.rows == self.results


def verify_part(layout: RunLayout, part: Part) -> tuple[int, list[str]]:
    """Compares the lines of a part's results with its rows and with its summary. Returns the number of lines, and the faults."""
    faults: list[str] = []
    outcomes: Counter[str] = Counter()
    seen = bytearray(part.rows + 1)
    lines = 0
    try:
        for line in part_lines(layout, part.part):
            lines += 1
            row = int(line["row"])
            outcomes[line["outcome"]] += 1
            if not 1 <= row <= part.rows:
                faults.append(f"part {part.part}: there is no row {row}")
            elif seen[row]:
                faults.append(f"part {part.part}: row {row} has two results")
            else:
                seen[row] = 1
    except StorageError as error:
        faults.append(f"part {part.part}: {error}")
    return lines, faults + _compared(layout, part, outcomes)


def _compared(layout: RunLayout, part: Part, outcomes: Counter[str]) -> list[str]:
    path = layout.part(part.part) / "summary.json"
    if not path.exists():
        return []
    summary = json.loads(path.read_text(encoding="utf-8"))
    return [
        f"part {part.part}: {outcomes[outcome]} rows are {outcome}, and its summary says {summary.get(outcome)}"
        for outcome in OUTCOMES
        if summary.get("ending") == "complete" and summary.get(outcome) != outcomes[outcome]
    ]


def verified(manifest: Manifest, parts: list[tuple[int, list[str]]]) -> Verification:
    """Adds up what was found in the parts."""
    faults = [fault for _, found in parts for fault in found]
    return Verification(manifest.rows, sum(lines for lines, _ in parts), tuple(faults[:1000]))
