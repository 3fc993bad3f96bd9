"""A run in parts that Spark sends."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql.types import IntegerType, LongType, StringType, StructField, StructType

from .. import _altered
from .._driver import Driver, campaign_of
from .._layout import RunLayout
from .._manifest import Manifest
from .._options import Options
from .._provider_token import TOKEN_SECONDS
from .._results import FIXED_COLUMNS, results_of
from .._summary import Summary
from .._verify import Verification, verified, verify_part
from ._altered import plain
from ._freeze import freeze_frame, measure_parts
from ._job import send_groups
from ._lines import check_columns
from ._tasks import for_each
from ._workers import check_workers

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_TYPES = {"row": LongType(), "status": IntegerType(), "timestamp": LongType(), "attempts": IntegerType()}


@dataclass(frozen=True)
class SparkRun:
    """A run in parts that has been sent, as far as its summary says."""

    spark: SparkSession
    run_dir: str
    summary: Summary

    @property
    def results(self) -> DataFrame:
        """One row for each row that has an outcome: `part`, and the columns of `results.csv`, with all texts as they were.

        To read it sends nothing.
        """
        layout = RunLayout.of(self.run_dir)
        files = [
            path for part in Manifest.read(layout).parts if (path := results_of(layout, part.part)).exists()
        ]
        columns = FIXED_COLUMNS
        if files:
            with open(files[0], newline="", encoding="utf-8") as file:
                columns = tuple(_altered.plain(name) for name in next(csv.reader(file), FIXED_COLUMNS))
        schema = StructType([StructField(name, _TYPES.get(name, StringType())) for name in columns])
        if not files:
            with_part = StructType([StructField("part", IntegerType()), *schema.fields])
            return self.spark.createDataFrame([], with_part)
        frame = (
            self.spark.read.schema(schema)
            .option("header", "true")
            .option("escape", '"')
            .option("multiLine", "true")
            .csv([f"file://{path}" for path in files])
        )
        part = f.regexp_extract(f.col("_metadata.file_path"), r"/parts/(\d+)/", 1).cast("int")
        texts = (
            plain(_column(field.name)).alias(field.name)
            if field.dataType == StringType()
            else _column(field.name)
            for field in schema
        )
        return frame.select(part.alias("part"), *texts)


def _column(name: str) -> Column:
    """The column of exactly this name, which may have dots and backticks."""
    return f.col("`" + name.replace("`", "``") + "`")


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

    :param df: Rows with a column `token`. Columns keep their types: `payload` may be a struct.
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
    check_columns(df)
    check_workers(df.sparkSession)
    layout, spark = RunLayout.of(run_dir), df.sparkSession
    options = Options(senders, lanes, rate, connections, parts, on_unknown, canary)
    driver = Driver(layout, campaign_of(campaign, settings), options, lock_wait, report, token_interval)
    summary = driver.send(
        lambda layout: freeze_frame(df, layout, options.part_count),
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
