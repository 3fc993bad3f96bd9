"""Which parts are sent in which order, with which flags, and how fast."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ._campaign import CopiedCampaign
from ._layout import RunLayout
from ._manifest import Manifest, Part
from ._options import Options
from ._part import PartTask
from ._proof import Proof
from ._sender import SenderTask

_log = logging.getLogger("apns_batch")


@dataclass(frozen=True)
class Plan:
    """How what is left of a run is sent."""

    layout: RunLayout
    manifest: Manifest
    options: Options
    rate: float | None
    """Requests per second of the whole run."""
    has_token: bool
    left: Mapping[int, int]
    """The rows that are left of each part that is not complete."""
    retries_unavailable: bool = False

    def stages(self, proof: Proof) -> Iterator[tuple[SenderTask, int]]:
        """What is sent at the same time, and by how many senders. With a canary, the first part is sent alone before all others."""
        parts = sorted(
            (part for part in self.manifest.parts if part.part in self.left),
            key=lambda part: (-self.left[part.part], part.part),
        )
        settled = self.manifest.settled
        first = [part for part in parts if part.part == self.manifest.parts[0].part]
        if settled.canary and first and not self.retries_unavailable:
            # The limit of rejected rows is a part of those that are really tried.
            flags = ["--canary", str(min(settled.canary, first[0].rows))]
            if settled.canary_max_rejected is not None:
                flags += ["--canary-max-rejected", f"{settled.canary_max_rejected:g}%"]
            yield self._task(first, flags, 1, proof), 1
            parts = [part for part in parts if part not in first]
        if parts:
            senders = min(self.options.senders, len(parts))
            yield self._task(parts, [], senders, proof), senders

    def _task(self, parts: Sequence[Part], flags: list[str], senders: int, proof: Proof) -> SenderTask:
        common = (*self._flags(senders), *flags)
        root = str(self.layout.root)
        tasks = tuple(
            PartTask(root, part, self.manifest.part_id(part.part), common, self.retries_unavailable)
            for part in parts
        )
        return SenderTask(root, tasks, senders, self.rate, proof, self.options.lanes or 1)

    def _flags(self, senders: int) -> list[str]:
        flags = self.options.flags(senders)
        if not self.retries_unavailable:
            flags += ["--name", self.manifest.name]
        if self.has_token:
            flags += ["--provider-token-file", str(self.layout.provider_token)]
        end = self.manifest.settled.not_after
        # A part that is resumed knows that of the run.
        if end is not None or self.retries_unavailable:
            flags += ["--not-after", end or "never"]
        return flags


def whole_rate(options: Options, copied: CopiedCampaign, manifest: Manifest) -> float | None:
    """Requests per second of the whole run: the lower one of its limit, and of that by which its rows are spread."""
    rate = options.rate or copied.rate
    if not manifest.settled.spread_seconds:
        return rate
    spread = max(manifest.rows, 1) / manifest.settled.spread_seconds
    return spread if rate is None else min(rate, spread)


def whole_connections(options: Options, copied: CopiedCampaign) -> int | None:
    """Connections of all senders together: as many as the campaign would open on one machine."""
    if options.connections is not None or copied.connections is None:
        return options.connections
    return copied.connections * (copied.lanes or 1)


def warn_of_few_slots(senders: int, slots: int | None, rate: float | None) -> None:
    if slots is None or slots >= senders:
        return
    limit = "" if rate is None else f"; they share the rate of {rate:.0f}/s"
    _log.warning(
        "%d tasks can run at the same time, and senders=%d: at most %d senders are at work at once%s",
        *(slots, senders, slots, limit),
    )
