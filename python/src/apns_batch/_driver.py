"""What the program does that sends a run: freeze, then send. It is the same with Spark and without."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import time
import uuid
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ._begun import begun_run, found_place, refuse_other_call
from ._campaign import (
    Campaign,
    CopiedCampaign,
    Request,
    fresh_copy,
    keep_copy,
    refuse_credentials,
    refuse_late,
    refuse_other_run,
)
from ._command import ask, find_binary
from ._errors import ConfigurationError, SendingStoppedError, StorageError
from ._faults import Fault
from ._freeze import accept, begin_input, remove_attempts
from ._judge import judge_frozen
from ._layout import RunLayout
from ._machines import Machines
from ._manifest import Manifest, Part, Settled, now
from ._options import Options
from ._part import INTERRUPTED, PartMessage, earlier_messages, stop_all
from ._place import Place, lock_text
from ._plan import Plan, warn_of_few_slots, whole_connections, whole_rate
from ._progress import progress_of
from ._proof import Presence, Proof
from ._provider_token import TOKEN_SECONDS, provider_token
from ._sender import Said
from ._signals import exit_on_sigterm
from ._status import read_status
from ._storage import check_storage, driver_lock
from ._summary import Summary, check_rows

_log = logging.getLogger("apns_batch")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Sent:
    """A run after a call."""

    layout: RunLayout
    manifest: Manifest
    summary: Summary
    was_complete: bool = False
    """Whether it was complete before this call, which has sent nothing."""


@dataclass(frozen=True)
class Driver:
    """A program that sends a run."""

    run_dir: str | os.PathLike[str] | None
    campaign: Campaign
    options: Options
    lock_wait: float = 0
    report: bool | None = None
    """Whether a report is made; None for what the campaign says."""
    token_seconds: float = TOKEN_SECONDS

    def send(self, machines: Machines) -> Sent:
        """Sends what is left of the run, or all of it.

        Raises SendingStoppedError if a sender met something that sending again would not mend.
        """
        binary = find_binary()
        run_dir = None if self.run_dir is None else os.fspath(self.run_dir)
        if run_dir is not None and "{" not in run_dir:
            # What is no directory is refused before anything else is looked at.
            RunLayout.of(run_dir)
            run_dir = None
        with fresh_copy(binary, self.campaign, Request(run_dir, machines.columns())) as (copied, fresh):
            refuse_credentials(copied)
            name = copied.name or "campaign"
            own = Place.of(self.run_dir, self.campaign, copied)
            place = found_place(own, name, self.options.run_key)
            with self._held(place.layout, name):
                manifest = begun_run(place.layout)
                if manifest is None:
                    refuse_late(copied)
                    machines.fit(copied.needs)
                    for warning in copied.warnings:
                        _log.warning("%s: %s", self.campaign.path, warning)
                else:
                    refuse_other_call(place.layout, manifest, copied, machines.schema(), self.options)
                    if place.layout.complete.exists():
                        self._refuse_other_night(place, own)
                        return self._complete(place.layout, manifest)
                with _proven(place.layout, machines) as proof, self._token(binary, copied, place.layout):
                    if manifest is None:
                        keep_copy(place.layout, fresh)
                        manifest = self._frozen(binary, place, copied, machines, proof)
                    plan = self._plan(place.layout, copied, manifest)
                    summary = self._send(binary, copied, plan, machines, proof)
                return Sent(place.layout, manifest, summary)

    def retry_unavailable(self, layout: RunLayout, machines: Machines, has_own_end: bool = False) -> Sent:
        """Sends rows again that ended as unavailable in a run that is complete.

        :param has_own_end: Whether `not_after` of this call takes the place of that of the run.
        """
        binary = find_binary()
        with fresh_copy(binary, self.campaign, Request()) as (copied, _), self._held(layout, None):
            refuse_credentials(copied)
            manifest = Manifest.read(layout)
            if copied.digest != manifest.campaign_digest:
                raise ConfigurationError(
                    f"{layout.root}: this run was sent with another campaign, or with other settings of it: give"
                    " retry_unavailable the campaign and the settings of the call that has sent the run"
                )
            earlier = earlier_messages(layout, manifest)
            summary = Summary.of(manifest, earlier)
            if not layout.complete.exists():
                raise ConfigurationError(
                    f"{layout.root}: {summary.left} rows of this run are left; send these first"
                )
            left = {each.part: int((each.summary or {}).get("unavailable", 0)) for each in earlier}
            left = {part: rows for part, rows in left.items() if rows > 0}
            if not left:
                return Sent(layout, manifest, summary, was_complete=True)
            if has_own_end:
                manifest = manifest.ending(copied.not_after)
            manifest.refuse_late_retry(layout)
            plan = replace(self._plan(layout, copied, manifest, left), retries_unavailable=True)
            with _proven(layout, machines) as proof, self._token(binary, copied, layout):
                layout.complete.unlink()
                return Sent(layout, manifest, self._send(binary, copied, plan, machines, proof))

    def _token(
        self, binary: str, copied: CopiedCampaign, layout: RunLayout
    ) -> contextlib.AbstractContextManager[object]:
        """Keeps the provider token of the run. A key that cannot be read is noticed before rows are frozen."""
        return provider_token(binary, self.campaign, copied, layout, self.token_seconds)

    @contextlib.contextmanager
    def _held(self, layout: RunLayout, name: str | None) -> Generator[None, None, None]:
        """Holds the lock of a run, in a directory that is fit for one."""
        layout.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_storage(layout.root)
        with exit_on_sigterm(), driver_lock(layout.lock, self.lock_wait):
            refuse_other_run(layout)
            if name is not None:
                layout.lock.write_text(lock_text(name, self.options.run_key), encoding="utf-8")
            yield

    def _refuse_other_night(self, place: Place, own: Place) -> None:
        """Raises ConfigurationError if another program has completed the run of an earlier night while this one waited for it: the rows
        of this call may be that night's or this one's."""
        if place.layout.root != own.layout.root and self.options.run_key is None:
            raise ConfigurationError(
                f"{place.layout.root}: another program has completed this run of another night meanwhile, and nothing was sent;"
                " call again to send the rows of this night, and give each call its run_key"
            )

    def _complete(self, layout: RunLayout, manifest: Manifest) -> Sent:
        _log.warning(
            "%s: this run, which was begun at %s, is complete; nothing is sent, and none of the rows given",
            *(layout.root, manifest.began),
        )
        summary = _summed(manifest, earlier_messages(layout, manifest))
        return Sent(layout, manifest, summary, was_complete=True)

    def _frozen(
        self, binary: str, place: Place, copied: CopiedCampaign, machines: Machines, proof: Proof
    ) -> Manifest:
        layout, began = place.layout, time.monotonic()
        begin_input(layout)
        try:
            reports = _without_faults(machines.freeze(layout, self.options.part_count, proof, copied.needs))
            written = time.monotonic()
            parts = accept(layout, reports)
            self._check_count(copied, parts)
            judge_frozen(binary, layout, parts)
        except BaseException as error:
            shutil.rmtree(layout.input, ignore_errors=True)
            # Rows of a program may raise any error; that of the disk is known by its cause.
            if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
                raise StorageError(
                    f"{layout.input}: the rows cannot be frozen ({error.strerror}); nothing was sent"
                ) from error
            raise
        manifest = Manifest(
            copied.campaign_id or str(uuid.uuid4()),
            *(copied.name or "campaign", now(), copied.digest, parts),
            self._settled(place, copied, machines),
        )
        manifest.write(layout)
        _log.info(
            "%d rows are frozen in %d parts, in %.1f s; they were compared in %.1f s",
            *(manifest.rows, len(parts), written - began, time.monotonic() - written),
        )
        return manifest

    def _check_count(self, copied: CopiedCampaign, parts: Sequence[Part]) -> None:
        rows, expected = sum(part.rows for part in parts), self.options.expect_rows
        if expected is not None and rows != expected:
            raise ConfigurationError(f"expect_rows={expected}: there are {rows} rows; nothing was sent")
        if rows == 0 and not self.options.allow_empty:
            raise ConfigurationError("there are no rows; with allow_empty=True, a run of none is complete")
        if copied.min_rows is not None and rows < copied.min_rows:
            raise ConfigurationError(
                f"min_rows: {copied.min_rows} rows are the least, and there are {rows}; nothing was sent"
            )

    def _settled(self, place: Place, copied: CopiedCampaign, machines: Machines) -> Settled:
        return Settled(
            pattern=place.pattern,
            night=copied.night,
            not_after=copied.not_after,
            canary=copied.canary if self.options.canary is None else self.options.canary,
            canary_max_rejected=copied.canary_max_rejected,
            spread_seconds=copied.spread_seconds,
            on_unknown=self.options.on_unknown,
            run_key=self.options.run_key,
            schema=machines.schema(),
        )

    def _plan(
        self,
        layout: RunLayout,
        copied: CopiedCampaign,
        manifest: Manifest,
        left: Mapping[int, int] | None = None,
    ) -> Plan:
        if left is None:
            left = _left_of(layout, manifest)
        rate = whole_rate(self.options, copied, manifest)
        options = replace(
            self.options,
            lanes=self.options.lanes or copied.lanes,
            connections=whole_connections(self.options, copied),
            on_unknown=self.options.on_unknown or manifest.settled.on_unknown,
        )
        return Plan(layout, manifest, options, rate, copied.credentials != "simulator", left)

    def _send(
        self, binary: str, copied: CopiedCampaign, plan: Plan, machines: Machines, proof: Proof
    ) -> Summary:
        layout, manifest = plan.layout, plan.manifest
        layout.parts.mkdir(exist_ok=True)
        warn_of_few_slots(self.options.senders, machines.slots(), plan.rate)
        said: list[Said] = []
        began = time.monotonic()
        try:
            with progress_of(layout, manifest):
                for task, senders in plan.stages(proof):
                    said += machines.send(task, senders, binary)
                    # Also on a disk that had no room for the file that stops all.
                    if layout.stop.exists() or _has_failed(said):
                        break
        except BaseException:
            stop_all(layout, -1, INTERRUPTED, "the program that sends was ended")
            raise
        finally:
            messages = [each for each in said if isinstance(each, PartMessage)]
            summary = _summed(manifest, [*_earlier(plan), *messages])
            summary.write(layout)
            _log.info(
                "%d of %d rows have an outcome, after %.1f s of sending",
                *(summary.rows, manifest.rows, time.monotonic() - began),
            )
            self._write_report(binary, copied, layout)
            remove_attempts(layout)
        _raise_what_was_said(said, proof)
        return summary

    def _write_report(self, binary: str, copied: CopiedCampaign, layout: RunLayout) -> None:
        """A report that cannot be made is a warning: the results are complete without it."""
        if self.report is False or (self.report is None and copied.report == "none"):
            return
        done = ask([binary, "report", str(layout.root)])
        if done.returncode != 0:
            _log.warning("the run has no report: %s", done.stderr.strip())


@contextlib.contextmanager
def _proven(layout: RunLayout, machines: Machines) -> Generator[Proof, None, None]:
    """A proof that machines can be asked for until the block ends. Those that are there have shown it before anything else happens."""
    proof = Proof.begin(layout)
    # From now on senders of an earlier start know that they are, and stop nobody.
    _reset(layout)
    try:
        for presence in _without_faults(machines.prove(proof)):
            proof.confirm(presence)
        yield proof
    finally:
        proof.end()


def _left_of(layout: RunLayout, manifest: Manifest) -> dict[int, int]:
    """The rows that are left of each part that is not complete. A part whose summary was lost is not, though no row of it is left."""
    said = {message.part for message in earlier_messages(layout, manifest) if message.is_complete}
    return {
        part.part: part.rows - part.ended
        for part in read_status(layout, manifest).parts
        if part.state != "complete" or part.part not in said
    }


def _reset(layout: RunLayout) -> None:
    """Removes what an earlier start has asked of senders, and nothing that somebody asks of this one."""
    for path in (layout.stop, layout.control):
        path.unlink(missing_ok=True)


def _earlier(plan: Plan) -> list[PartMessage]:
    """What the parts said at their last end. Those that are left are not complete, whatever they said then."""
    return [
        replace(message, exit_code=INTERRUPTED)
        if message.part in plan.left and message.is_complete
        else message
        for message in earlier_messages(plan.layout, plan.manifest)
    ]


def _summed(manifest: Manifest, messages: Sequence[PartMessage]) -> Summary:
    """The sums of a run. Raises StorageError if a part has other rows than were frozen."""
    check_rows(manifest, messages)
    return Summary.of(manifest, messages)


def _has_failed(said: Sequence[Said]) -> bool:
    return any(
        isinstance(each, Fault) or (isinstance(each, PartMessage) and not each.is_complete) for each in said
    )


def _raise_what_was_said(said: Sequence[Said], proof: Proof) -> None:
    for each in said:
        if isinstance(each, PartMessage) and each.has_stopped_all:
            raise SendingStoppedError(each.part, each.exit_code, each.cause)
    _raise_faults(said)
    for each in said:
        if isinstance(each, Presence):
            proof.confirm(each)


def _raise_faults(said: Sequence[object]) -> None:
    for each in said:
        if isinstance(each, Fault):
            raise each.error()


def _without_faults(said: Sequence[_T | Fault]) -> list[_T]:
    """Raises the first fault as the error that it is."""
    _raise_faults(said)
    return [each for each in said if not isinstance(each, Fault)]
