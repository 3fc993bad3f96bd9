"""Sends rows of a program in parts, without Spark."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ._campaign import Campaign
from ._driver import Driver
from ._faults import Fault
from ._freeze import Frozen, freeze_rows
from ._handle import RunHandle, summary_of
from ._layout import RunLayout
from ._manifest import Manifest
from ._needs import Needs
from ._options import Options
from ._proof import Presence, Proof
from ._provider_token import TOKEN_SECONDS
from ._results import Results, results
from ._rows import Rows, rows_of
from ._schema import Schema
from ._sender import Said, SenderTask, send_parts
from ._verify import Verification, verified, verify_part


@dataclass(frozen=True)
class Run(RunHandle):
    """A run in parts that has been sent, as far as its summary says."""

    @property
    def results(self) -> Results:
        """The results of all parts, one for each row, to iterate over or as a frame. To read them sends nothing.

        `apns_batch.results(run_dir, follow=True)` follows those of a run that is being sent.
        """
        return results(self.run_dir)

    def retry_unavailable(
        self,
        *,
        campaign: str | os.PathLike[str] | None = None,
        settings: Mapping[str, object] | None = None,
        senders: int | None = None,
        rate: float | None = None,
    ) -> Run:
        """Sends rows again that ended as unavailable, of a run that is complete.

        The summary of this object stays as it was: that of the object that is returned is the new one.

        :param campaign: The campaign file; None for that of the call that has sent the run.
        :param settings: The settings of that call; None for those that this object knows, which are none if it was opened or if the campaign
            is given.
        :param senders: As in `run`; None for as many as that call had.
        :param rate: As in `run`; None for that of that call.
        :return: The run with its summary afterwards.
        :raises ConfigurationError: The run is not complete, or campaign or settings are others than those that it was sent with.
        """
        sent = self._retried(_Program(rows_of(())), campaign, settings, senders, rate)
        return Run(self.run_dir, sent.summary, sent.was_complete, self.driver)


def open_run(run_dir: str | os.PathLike[str]) -> Run:
    """Opens a run in parts that another program has sent, or is sending.

    :param run_dir: The directory of the run: `run.run_dir`, and not the pattern that it was made from.
    :raises ConfigurationError: The directory holds no run in parts.
    """
    layout = RunLayout.of(run_dir)
    return Run(str(layout.root), summary_of(layout))


def run(
    rows: Any,
    *,
    campaign: str | os.PathLike[str],
    run_dir: str | os.PathLike[str] | None = None,
    settings: Mapping[str, object] | None = None,
    senders: int = 1,
    lanes: int | None = None,
    rate: float | None = None,
    connections: int | None = None,
    parts: int | None = None,
    on_unknown: str | None = None,
    canary: int | None = None,
    expect_rows: int | None = None,
    run_key: str | None = None,
    allow_empty: bool = False,
    lock_wait: float = 0,
    token_interval: float = TOKEN_SECONDS,
    report: bool | None = None,
) -> Run:
    """Sends a push for each row, and returns when each has an outcome. It may be called any number of times with the same directory.

    The first call freezes the rows into the run directory, before anything is sent, with the columns that the campaign uses. A later call,
    after whatever ended the first one, sends what is left of those. Of its own `rows` it compares the columns, for which it reads the first
    1,000 of an iterable.

    :param rows: Mappings, dataclasses or named tuples, or a frame of pandas, polars or Arrow, with a column `token`. docs/integrate/values.md
        says what becomes of their values. A row with a value that cannot be sent is an invalid row, and spoils no other.
    :param campaign: The campaign file. Its rows are not used; a setting that cannot hold for a run in parts is refused.
    :param run_dir: The run directory, created if needed; None for that of the campaign. {date} and {campaign} are replaced as by the command.
    :param settings: Settings that replace those of the campaign file, by their keys in it; None leaves one out.
    :param senders: The number of processes that send at the same time.
    :param lanes: The sending threads of each of them; None for those of the campaign, or for one.
    :param rate: Requests per second of all senders together; None for that of the campaign, or for no limit.
    :param connections: Connections of all senders together; None for 64.
    :param parts: The number of parts; None for four for each sender.
    :param on_unknown: What happens to rows that may have arrived when a sender is killed; None for what the campaign says.
    :param canary: The number of first rows after which the rest is sent only if they have passed; None for what the campaign says.
    :param expect_rows: The number of rows that there must be; None for any number.
    :param run_key: What tells this run apart from others, such as the date of its rows: another value in the directory is refused.
    :param allow_empty: Whether a run of no rows is complete, and no error.
    :param lock_wait: Seconds to wait while another program sends this run.
    :param token_interval: Seconds after which the provider token is replaced.
    :param report: Whether a report of all parts is written into the run directory; None for what the campaign says (`report: none`).
    :raises ConfigurationError: Campaign, rows or an argument are wrong.
    :raises StorageError: The run directory has no locks that exclude, or other rows than were frozen.
    :raises RunBusyError: Another program is sending this run.
    :raises SenderInterruptedError: A sender ended early four times. A further call goes on.
    :raises SendingStoppedError: APNs refused in a way that concerns all rows, such as a wrong key.
    """
    options = Options(
        *(senders, lanes, rate, connections, parts, on_unknown, canary, expect_rows, run_key, allow_empty)
    )
    driver = Driver(run_dir, Campaign.of(campaign, settings), options, lock_wait, report, token_interval)
    sent = driver.send(_Program(rows_of(rows)))
    return Run(str(sent.layout.root), sent.summary, sent.was_complete, driver)


@dataclass(frozen=True)
class _Program:
    """This program as the machines of a run: its senders are threads."""

    rows: Rows

    def columns(self) -> tuple[str, ...]:
        return self.rows.columns

    def schema(self) -> Schema:
        return self.rows.schema

    def fit(self, needs: Needs) -> None:
        self.rows.fit(needs)

    def slots(self) -> int | None:
        return None

    def prove(self, proof: Proof) -> Sequence[Presence | Fault]:
        return [proof.show()]

    def freeze(self, layout: RunLayout, parts: int, proof: Proof, needs: Needs) -> Sequence[Frozen | Fault]:
        return freeze_rows(self.rows, layout, parts)

    def send(self, task: SenderTask, senders: int, binary: str) -> Sequence[Said]:
        is_over = threading.Event()
        with ThreadPoolExecutor(max_workers=senders, thread_name_prefix="apns-batch-sender") as pool:
            futures = [pool.submit(_said, binary, task, is_over) for _ in range(senders)]
            try:
                return [each for future in futures for each in future.result()]
            except BaseException:
                # Also on Ctrl-C: the senders end in order before the exception goes on.
                is_over.set()
                raise


def _said(binary: str, task: SenderTask, is_over: threading.Event) -> list[Said]:
    return list(send_parts(binary, task, is_over.is_set))


def verify(run_dir: str | os.PathLike[str]) -> Verification:
    """Checks that each row of a run in parts has at most one result, and that results and summaries agree.

    :param run_dir: The directory of the run.
    :raises ConfigurationError: The directory holds no run in parts.
    """
    layout = RunLayout.of(run_dir)
    manifest = Manifest.read(layout)
    return verified(manifest, [verify_part(layout, part) for part in manifest.parts])
