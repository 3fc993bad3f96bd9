"""Sends rows of a program in parts, without Spark."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ._command import find_binary
from ._driver import Driver, campaign_of
from ._errors import SenderInterruptedError
from ._freeze import freeze_rows, frozen_files, measured
from ._layout import RunLayout
from ._manifest import Manifest, Part
from ._options import Options
from ._part import PartMessage
from ._provider_token import TOKEN_SECONDS
from ._results import Results, results
from ._rows import rows_of
from ._sender import SenderTask, send_group
from ._summary import Summary
from ._verify import Verification, verified, verify_part

_log = logging.getLogger("apns_batch")

# As often as Spark tries a task (spark.task.maxFailures).
_ATTEMPTS = 4


@dataclass(frozen=True)
class Run:
    """A run in parts that has been sent, as far as its summary says."""

    run_dir: str
    summary: Summary

    def results(self) -> Results:
        """The results of all parts, one for each row, to iterate over or as a frame. To read them sends nothing."""
        return results(self.run_dir)


def run(
    rows: Any,
    *,
    campaign: str | os.PathLike[str],
    run_dir: str | os.PathLike[str],
    settings: Mapping[str, object] | None = None,
    senders: int = 1,
    lanes: int = 1,
    rate: float | None = None,
    connections: int | None = None,
    parts: int | None = None,
    on_unknown: str | None = None,
    canary: int | None = None,
    lock_wait: float = 0,
    token_interval: float = TOKEN_SECONDS,
    report: bool = True,
) -> Run:
    """Sends a push for each row, and returns when each has an outcome. It may be called any number of times with the same directory.

    The first call freezes the rows into the run directory, before anything is sent. A later call, after whatever ended the first one, sends
    what is left of those and does not look at `rows`.

    :param rows: Mappings, dataclasses or named tuples, or a frame of pandas, polars or Arrow, with a column `token`. docs/values.md says what
        becomes of their values. A row with a value that cannot be sent is an invalid row, and spoils no other.
    :param campaign: The campaign file. What belongs to one run on one machine is not used, such as `input` and `on_complete`.
    :param run_dir: The run directory, created if needed.
    :param settings: Settings that replace those of the campaign file, by their keys in it.
    :param senders: The number of processes that send at the same time.
    :param lanes: The sending threads of each of them.
    :param rate: Requests per second of all senders together; None for that of the campaign, or for no limit.
    :param connections: Connections of all senders together; None for 64.
    :param parts: The number of parts; None for four for each sender.
    :param on_unknown: What happens to rows that may have arrived when a sender is killed; None for what the campaign says.
    :param canary: The number of first rows after which the rest is sent only if they have passed.
    :param lock_wait: Seconds to wait while another program sends this run.
    :param token_interval: Seconds after which the provider token is replaced.
    :param report: Whether a report of all parts is written into the run directory.
    :raises ConfigurationError: Campaign, rows or an argument are wrong.
    :raises StorageError: The run directory has no locks that exclude.
    :raises RunBusyError: Another program is sending this run.
    :raises SenderInterruptedError: A sender ended early four times. A further call goes on.
    :raises SendingStoppedError: APNs refused in a way that concerns all rows, such as a wrong key.
    """
    layout = RunLayout.of(run_dir)
    options = Options(senders, lanes, rate, connections, parts, on_unknown, canary)
    driver = Driver(layout, campaign_of(campaign, settings), options, lock_wait, report, token_interval)

    def freeze(layout: RunLayout) -> None:
        given = rows_of(rows)
        for warning in given.check_schema(find_binary(), driver.campaign).warnings:
            _log.warning("rows: %s", warning)
        freeze_rows(given, layout, options.part_count)

    summary = driver.send(freeze, measured_parts, _send_groups)
    return Run(str(layout.root), summary)


def measured_parts(layout: RunLayout) -> list[Part]:
    return [measured(layout, number, path) for number, path in enumerate(frozen_files(layout))]


def _send_groups(groups: Sequence[SenderTask], binary: str) -> list[PartMessage]:
    is_over = threading.Event()
    with ThreadPoolExecutor(max_workers=len(groups), thread_name_prefix="apns-batch-sender") as pool:
        futures = [pool.submit(_send_patiently, binary, group, is_over) for group in groups]
        try:
            return [message for future in futures for message in future.result()]
        except BaseException:
            # Also on Ctrl-C: the senders end in order before the exception goes on.
            is_over.set()
            raise


def _send_patiently(binary: str, group: SenderTask, is_over: threading.Event) -> list[PartMessage]:
    messages: list[PartMessage] = []
    for part in group.parts:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                messages += send_group(binary, SenderTask((part,)), is_over.is_set)
                break
            except SenderInterruptedError as error:
                if attempt == _ATTEMPTS or is_over.is_set():
                    raise
                _log.warning("%s; it is resumed", error)
    return messages


def verify(run_dir: str | os.PathLike[str]) -> Verification:
    """Checks that each row of a run in parts has at most one result, and that results and summaries agree."""
    layout = RunLayout.of(run_dir)
    manifest = Manifest.read(layout)
    return verified(manifest, [verify_part(layout, part) for part in manifest.parts])
