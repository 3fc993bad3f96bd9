"""The sums of all parts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ._errors import StorageError
from ._layout import RunLayout, write_whole
from ._manifest import Manifest
from ._part import PartMessage

OUTCOMES = ("accepted", "rejected", "unavailable", "invalid", "unknown", "expired", "suppressed")


@dataclass(frozen=True)
class Summary:
    """How a run in parts stands: the sums of what its parts say. The names are those of the summary of a single run."""

    campaign_id: str
    rows: int = 0
    """The rows that have a line in the results: the sum of the outcomes below."""
    accepted: int = 0
    rejected: int = 0
    unavailable: int = 0
    invalid: int = 0
    unknown: int = 0
    expired: int = 0
    suppressed: int = 0
    left: int = 0
    """The rows without a line in the results."""
    attempts: int = 0
    """The requests for those rows."""
    resent: int = 0
    """The rows that were sent again although an earlier request may have arrived."""
    reasons: Mapping[str, int] = field(default_factory=dict[str, int])
    """Rejected rows by the reason that APNs gave."""
    unavailable_reasons: Mapping[str, int] = field(default_factory=dict[str, int])
    parts: int = 0
    parts_complete: int = 0
    cause: str | None = None
    """Why the run is not complete; None if it is."""

    @property
    def is_complete(self) -> bool:
        """Whether every part is complete."""
        return self.parts_complete == self.parts

    @property
    def exit_code(self) -> int:
        """What the command would have ended with: 0, 2 if rows have no good outcome, or 75 if rows are left."""
        if not self.is_complete:
            return 75
        bad = self.unavailable + self.invalid + self.unknown + self.expired
        return 0 if self.accepted > 0 and bad == 0 else 2

    def write(self, layout: RunLayout) -> None:
        """Writes it into the run directory, and the mark of a complete run if it is one."""
        content = {**asdict(self), "exit_code": self.exit_code}
        write_whole(layout.summary, json.dumps(content, indent=1) + "\n")
        if self.is_complete:
            write_whole(layout.complete, "")

    @staticmethod
    def of(manifest: Manifest, messages: Iterable[PartMessage]) -> Summary:
        """Adds up what is known of the parts. Of several messages of a part, the last one counts."""
        last = {message.part: message for message in messages}
        summaries = [message.summary or {} for message in last.values()]
        complete = sum(1 for message in last.values() if message.is_complete)
        causes = [message.cause for message in last.values() if message.cause]
        rows = _sum(summaries, "rows")
        return Summary(
            manifest.campaign_id,
            rows=rows,
            accepted=_sum(summaries, "accepted"),
            rejected=_sum(summaries, "rejected"),
            unavailable=_sum(summaries, "unavailable"),
            invalid=_sum(summaries, "invalid"),
            unknown=_sum(summaries, "unknown"),
            expired=_sum(summaries, "expired"),
            suppressed=_sum(summaries, "suppressed"),
            left=manifest.rows - rows,
            attempts=_sum(summaries, "attempts"),
            resent=_sum(summaries, "resent"),
            reasons=_merged(summaries, "reasons"),
            unavailable_reasons=_merged(summaries, "unavailable_reasons"),
            parts=len(manifest.parts),
            parts_complete=complete,
            cause=None if complete == len(manifest.parts) else next(iter(causes), "parts were not sent"),
        )


def check_rows(manifest: Manifest, messages: Iterable[PartMessage]) -> None:
    """Raises StorageError if a part has more results than rows were frozen, or is complete with fewer."""
    rows = {part.part: part.rows for part in manifest.parts}
    for message in {message.part: message for message in messages}.values():
        found = (message.summary or {}).get("rows", 0)
        frozen = rows.get(message.part, 0)
        if found > frozen or (message.is_complete and message.summary is not None and found < frozen):
            raise StorageError(
                f"part {message.part}: it has {found} results, and {frozen} rows were frozen: its directory or its input"
                " is not that of this run"
            )


def _sum(summaries: Iterable[Mapping[str, Any]], name: str) -> int:
    return sum(value for summary in summaries if isinstance(value := summary.get(name), int))


def _merged(summaries: Iterable[Mapping[str, Any]], name: str) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for summary in summaries:
        counts.update(summary.get(name) or {})
    return dict(counts)
