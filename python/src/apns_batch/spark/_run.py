"""A run in parts that Spark sends."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._command import find_binary
from .._driver import Driver, campaign_of
from .._layout import RunLayout
from .._manifest import Manifest
from .._options import Options
from .._provider_token import TOKEN_SECONDS
from .._schema import check_schema
from .._summary import Summary
from .._verify import Verification, verified, verify_part
from ._columns import check_columns
from ._freeze import freeze_frame, measure_parts
from ._job import send_groups
from ._results import results
from ._tasks import for_each

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_log = logging.getLogger("apns_batch")


@dataclass(frozen=True)
class SparkRun:
    """A run in parts that has been sent, as far as its summary says."""

    spark: SparkSession
    run_dir: str
    summary: Summary

    @property
    def results(self) -> DataFrame:
        """One row for each row that has an outcome, with the columns that :func:`results` describes. To read it sends nothing."""
        return results(self.spark, self.run_dir)


def send(
    df: DataFrame,
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
) -> SparkRun:
    """Sends a push for each row of a DataFrame, and returns when each has an outcome.

    It is an action: job 1 freezes the rows into the run directory, and job 2 sends them. It may be called any number of times with the same
    directory. A later call, after whatever ended the first one, sends what is left of the frozen rows, and does not look at `df`.

    The signing key stays with the driver; the executors get a provider token, which the driver replaces every 45 minutes.

    :param df: Rows with a column `token`. docs/values.md says what becomes of their values. A row with a value that cannot be sent is an
        invalid row, and spoils no other.
    :param campaign: The campaign file, which the driver reads. What belongs to one run on one machine is not used, such as `input`.
    :param run_dir: The run directory, which driver and executors see under this name. Its file system must have locks that exclude.
    :param settings: Settings that replace those of the campaign file, by their keys in it.
    :param senders: The number of tasks that send at the same time. Each needs a slot.
    :param lanes: The sending threads of each of them.
    :param rate: Requests per second of all senders together; None for that of the campaign, or for no limit.
    :param connections: Connections of all senders together; None for 64.
    :param parts: The number of parts; None for four for each sender. A part of some 500,000 rows is a good size.
    :param on_unknown: What happens to rows that may have arrived when a sender is killed; None for what the campaign says.
    :param canary: The number of first rows after which the rest is sent only if they have passed.
    :param lock_wait: Seconds to wait while another program sends this run.
    :param token_interval: Seconds after which the provider token is replaced.
    :param report: Whether a report of all parts is written into the run directory.
    :raises ConfigurationError: Campaign, rows or an argument are wrong.
    :raises StorageError: The run directory has no locks that exclude.
    :raises RunBusyError: Another program is sending this run.
    :raises SendingStoppedError: APNs refused in a way that concerns all rows, such as a wrong key.
    """
    unfit = check_columns(df)
    layout, spark = RunLayout.of(run_dir), df.sparkSession
    options = Options(senders, lanes, rate, connections, parts, on_unknown, canary)
    driver = Driver(layout, campaign_of(campaign, settings), options, lock_wait, report, token_interval)

    def freeze(layout: RunLayout) -> None:
        needs = check_schema(find_binary(), driver.campaign, df.columns)
        for warning in needs.warnings:
            _log.warning("df: %s", warning)
        freeze_frame(df, layout, options.part_count, needs.fit(unfit))

    summary = driver.send(
        freeze,
        lambda layout: measure_parts(spark, layout),
        lambda groups, _: send_groups(spark, groups, lanes),
    )
    return SparkRun(spark, str(layout.root), summary)


def verify(spark: SparkSession, run_dir: str | os.PathLike[str]) -> Verification:
    """Checks, with a task for each part, that each row has at most one result, and that results and summaries agree."""
    layout = RunLayout.of(run_dir)
    manifest = Manifest.read(layout)

    def check(index: int) -> Iterator[tuple[int, list[str]]]:
        yield verify_part(layout, manifest.parts[index])

    found = for_each(spark, len(manifest.parts), check)
    return verified(manifest, [(lines, faults) for lines, faults in found])
