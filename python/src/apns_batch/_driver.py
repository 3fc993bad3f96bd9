"""What the program does that sends a run: freeze, then send. It is the same with Spark and without."""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ._campaign import CREDENTIALS, Campaign, CopiedCampaign, copy_campaign, refuse_other_run
from ._command import ask, find_binary
from ._errors import SendingStoppedError
from ._layout import RunLayout
from ._manifest import Manifest, Part, now
from ._options import Options
from ._part import PartMessage, PartTask, earlier_messages
from ._progress import progress_of
from ._provider_token import TOKEN_SECONDS, provider_token
from ._sender import SenderTask, grouped
from ._storage import check_storage, driver_lock
from ._summary import Summary

_log = logging.getLogger("apns_batch")

Freeze = Callable[[RunLayout], None]
"""Writes the rows into the input directory of a run, and `_SUCCESS` at the end."""
Measure = Callable[[RunLayout], list[Part]]
"""Returns the parts of the frozen rows."""
SendGroups = Callable[[Sequence[SenderTask], str], list[PartMessage]]
"""Sends groups at the same time, each with the command at a path. Returns their messages when all groups have ended."""


@dataclass(frozen=True)
class Driver:
    """A program that sends a run."""

    layout: RunLayout
    campaign: Campaign
    options: Options
    lock_wait: float = 0
    report: bool = True
    token_seconds: float = TOKEN_SECONDS

    def send(self, freeze: Freeze, measure: Measure, send_groups: SendGroups) -> Summary:
        """Sends what is left of the run, and returns its sums.

        Raises SendingStoppedError if a sender met something that sending again would not mend.
        """
        binary = find_binary()
        self.layout.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_storage(self.layout.root)
        with driver_lock(self.layout.lock, self.lock_wait):
            refuse_other_run(self.layout)
            copied = copy_campaign(
                binary, self.campaign, self.layout, may_replace=not self.layout.parts.exists()
            )
            self._say_what_is_left_out(copied)
            manifest = self._manifest(copied, freeze, measure)
            if self.layout.complete.exists():
                return Summary.of(manifest, earlier_messages(self.layout, manifest))
            return self._send(binary, copied, manifest, send_groups)

    def _say_what_is_left_out(self, copied: CopiedCampaign) -> None:
        foreign = set(copied.left_out) - _REPLACED
        if foreign:
            _log.warning(
                "%s: not used for a run in parts: %s", self.campaign.path, ", ".join(sorted(foreign))
            )

    def _manifest(self, copied: CopiedCampaign, freeze: Freeze, measure: Measure) -> Manifest:
        layout = self.layout
        if layout.manifest.exists():
            return Manifest.read(layout)
        began = time.monotonic()
        if not layout.input_is_frozen.exists():
            freeze(layout)
        frozen = time.monotonic()
        manifest = Manifest(
            copied.campaign_id or str(uuid.uuid4()),
            copied.name or "campaign",
            now(),
            copied.digest,
            tuple(measure(layout)),
        )
        manifest.write(layout)
        _log.info(
            "%d rows are frozen in %d parts, in %.1f s; they were counted in %.1f s",
            *(manifest.rows, len(manifest.parts), frozen - began, time.monotonic() - frozen),
        )
        return manifest

    def _send(
        self, binary: str, copied: CopiedCampaign, manifest: Manifest, send_groups: SendGroups
    ) -> Summary:
        layout = self.layout
        layout.stop.unlink(missing_ok=True)
        layout.parts.mkdir(exist_ok=True)
        messages: list[PartMessage] = []
        began = time.monotonic()
        try:
            with (
                provider_token(binary, self.campaign, copied, layout, self.token_seconds) as token,
                progress_of(layout, manifest),
            ):
                for stage in self._stages(copied, manifest, token is not None):
                    messages += send_groups(stage, binary)
                    if layout.stop.exists():
                        break
        finally:
            summary = Summary.of(manifest, [*earlier_messages(layout, manifest), *messages])
            summary.write(layout)
            _log.info(
                "%d of %d rows have an outcome, after %.1f s of sending",
                *(summary.rows, manifest.rows, time.monotonic() - began),
            )
            self._write_report(binary)
        stopped = next((message for message in messages if message.has_stopped_all), None)
        if stopped is not None:
            raise SendingStoppedError(stopped.part, stopped.exit_code, stopped.cause)
        return summary

    def _stages(
        self, copied: CopiedCampaign, manifest: Manifest, has_token: bool
    ) -> Iterator[Sequence[SenderTask]]:
        """The groups that are sent at the same time. With a canary, the first part is sent alone before all others."""
        flags = ["--name", manifest.name]
        if has_token:
            flags += ["--provider-token-file", str(self.layout.provider_token)]
        rest = manifest.parts
        if self.options.canary is not None and rest:
            canary = ["--canary", str(self.options.canary)]
            yield self._groups(manifest, rest[:1], [*flags, *canary, *self.options.flags(copied, 1)], 1)
            rest = rest[1:]
        senders = min(self.options.senders, len(rest))
        if rest:
            yield self._groups(manifest, rest, [*flags, *self.options.flags(copied, senders)], senders)

    def _groups(
        self, manifest: Manifest, parts: Sequence[Part], flags: Sequence[str], senders: int
    ) -> Sequence[SenderTask]:
        root = str(self.layout.root)
        tasks = [
            (part.bytes, PartTask(root, part.part, part.input, manifest.part_id(part.part), tuple(flags)))
            for part in parts
        ]
        return grouped(tasks, senders)

    def _write_report(self, binary: str) -> None:
        """A report that cannot be made is a warning: the results are complete without it."""
        if not self.report:
            return
        done = ask([binary, "report", str(self.layout.root)])
        if done.returncode != 0:
            _log.warning("the run has no report: %s", done.stderr.strip())


# Settings that arguments of this package or the rows take the place of.
_REPLACED = frozenset(
    {
        *(
            "input",
            "input_command",
            "input_query",
            "input_timeout",
            "spool",
            "format",
            "delimiter",
            "escape",
            "zstd_window",
        ),
        *CREDENTIALS,
        *(
            "rate",
            "lanes",
            "connections",
            "campaign_id",
            "name",
            "run_dir",
            "night_starts",
            "timezone",
            "report",
        ),
    }
)


def campaign_of(path: str | os.PathLike[str], settings: Mapping[str, object] | None) -> Campaign:
    return Campaign(os.fspath(path), dict(settings or {}))
