"""A run in parts that Spark sends."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from .._campaign import Campaign
from .._driver import Driver
from .._handle import RunHandle, summary_of
from .._layout import RunLayout
from .._manifest import Manifest
from .._options import Options
from .._provider_token import TOKEN_SECONDS
from .._verify import Verification, verified, verify_part
from ._columns import check_columns
from ._job import Cluster
from ._results import results
from ._tasks import for_each
from ._workers import check_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True)
class SparkRun(RunHandle):
    """A run in parts that has been sent, as far as its summary says."""

    spark: SparkSession = field(kw_only=True, repr=False)

    @property
    def results(self) -> DataFrame:
        """One row for each row that has an outcome, with the columns that :func:`results` describes. To read it sends nothing."""
        return results(self.spark, self.run_dir)

    def retry_unavailable(
        self,
        *,
        campaign: str | os.PathLike[str] | None = None,
        settings: Mapping[str, object] | None = None,
        senders: int | None = None,
        rate: float | None = None,
    ) -> SparkRun:
        """Sends rows again that ended as unavailable, of a run that is complete.

        The summary of this object stays as it was: that of the object that is returned is the new one.

        :param campaign: The campaign file; None for that of the call that has sent the run.
        :param settings: The settings of that call; None for those that this object knows, which are none if it was opened or if the campaign
            is given.
        :param senders: As in `send`; None for as many as that call had.
        :param rate: As in `send`; None for that of that call.
        :return: The run with its summary afterwards.
        :raises ConfigurationError: The run is not complete, or campaign or settings are others than those that it was sent with.
        """
        sent = self._retried(Cluster(self.spark, None, 1), campaign, settings, senders, rate)
        return replace(self, summary=sent.summary, was_complete=sent.was_complete)


def send(
    df: DataFrame,
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
) -> SparkRun:
    """Sends a push for each row of a DataFrame, and returns when each has an outcome.

    It is an action: job 1 freezes the rows into the run directory, with the columns that the campaign uses, and job 2 sends them. It may be
    called any number of times with the same directory. A later call, after whatever ended the first one, sends what is left of the frozen
    rows. Of its own `df` it compares the schema, and computes nothing.

    The signing key stays with the driver; the executors get a provider token, which the driver replaces every 45 minutes.

    :param df: Rows with a column `token`. docs/integrate/values.md says what becomes of their values. A row with a value that cannot be sent is
        an invalid row, and spoils no other.
    :param campaign: The campaign file, which the driver reads. Its rows are not used; a setting that cannot hold for a run in parts is refused.
    :param run_dir: The run directory, which driver and executors see under this name; None for that of the campaign. {date} and {campaign} are
        replaced as by the command. Its file system must have locks that exclude.
    :param settings: Settings that replace those of the campaign file, by their keys in it; None leaves one out.
    :param senders: The number of tasks that send at the same time. Each needs a slot.
    :param lanes: The sending threads of each of them; None for those of the campaign, or for one. With more than one, a task asks for that many
        cores.
    :param rate: Requests per second of all senders together; None for that of the campaign, or for no limit.
    :param connections: Connections of all senders together; None for 64.
    :param parts: The number of parts; None for four for each sender. A part of some 500,000 rows is a good size.
    :param on_unknown: What happens to rows that may have arrived when a sender is killed; None for what the campaign says.
    :param canary: The number of first rows after which the rest is sent only if they have passed; None for what the campaign says.
    :param expect_rows: The number of rows that the DataFrame must have; None for any number.
    :param run_key: What tells this run apart from others, such as the date of its rows: another value in the directory is refused.
    :param allow_empty: Whether a run of no rows is complete, and no error.
    :param lock_wait: Seconds to wait while another program sends this run.
    :param token_interval: Seconds after which the provider token is replaced.
    :param report: Whether a report of all parts is written into the run directory; None for what the campaign says (`report: none`).
    :raises ConfigurationError: Campaign, rows or an argument are wrong.
    :raises StorageError: The run directory has no locks that exclude, or a machine does not see it as the driver does.
    :raises RunBusyError: Another program is sending this run.
    :raises SendingStoppedError: APNs refused in a way that concerns all rows, such as a wrong key.
    """
    unfit = check_columns(df)
    check_workers(df.sparkSession)
    options = Options(
        *(senders, lanes, rate, connections, parts, on_unknown, canary, expect_rows, run_key, allow_empty)
    )
    spark = df.sparkSession
    driver = Driver(run_dir, Campaign.of(campaign, settings), options, lock_wait, report, token_interval)
    sent = driver.send(Cluster(spark, df, senders, unfit))
    return SparkRun(str(sent.layout.root), sent.summary, sent.was_complete, driver, spark=spark)


def open_run(spark: SparkSession, run_dir: str | os.PathLike[str]) -> SparkRun:
    """Opens a run in parts that another program has sent, or is sending.

    :param spark: The session for its results, and for sending rows again.
    :param run_dir: The directory of the run: `run.run_dir`, and not the pattern that it was made from.
    :raises ConfigurationError: The directory holds no run in parts.
    """
    layout = RunLayout.of(run_dir)
    return SparkRun(str(layout.root), summary_of(layout), spark=spark)


def verify(spark: SparkSession, run_dir: str | os.PathLike[str]) -> Verification:
    """Checks, with a task for each part, that each row has at most one result, and that results and summaries agree.

    :param spark: The session whose tasks read the run.
    :param run_dir: The directory of the run.
    :raises ConfigurationError: The directory holds no run in parts.
    """
    layout = RunLayout.of(run_dir)
    manifest = Manifest.read(layout)

    def check(index: int) -> Iterator[tuple[int, list[str]]]:
        yield verify_part(layout, manifest.parts[index])

    found = for_each(spark, len(manifest.parts), check, "verifies the results")
    return verified(manifest, [(lines, faults) for lines, faults in found])
