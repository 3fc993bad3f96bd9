"""The results of a run as a DataFrame that Spark reads itself."""

from __future__ import annotations

import csv
import os
from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql.types import StringType, StructField, StructType

from .. import _altered
from .._layout import RunLayout
from .._manifest import Manifest
from .._results import FIXED_COLUMNS, UNREADABLE, frame_names, results_of
from .._rows import REASON
from ._altered import plain

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_TYPES = {"part": "int", "row": "bigint", "status": "int", "timestamp": "timestamp", "attempts": "int"}


def results(spark: SparkSession, run_dir: str | os.PathLike[str]) -> DataFrame:
    """One row for each row of a run that has an outcome, whoever sends or has sent it. To read it sends nothing.

    The columns are `part` (int), `row` (bigint, in the part), `token`, `outcome`, `status` (int), `reason`, `timestamp` (timestamp), `apns_id`,
    `attempts` (int), `apns_unique_id` and those of `result_columns`, as strings. One of these has `column_` in front of its name if, without
    regard to upper and lower case, the name is that of a column before it.

    :param spark: The session that reads them.
    :param run_dir: The directory of the run: `run.run_dir`, and not the pattern that it was made from.
    :raises ConfigurationError: The directory holds no run in parts.
    """
    layout = RunLayout.of(run_dir)
    files = [path for part in Manifest.read(layout).parts if (path := results_of(layout, part.part)).exists()]
    given = FIXED_COLUMNS
    if files:
        with open(files[0], newline="", encoding="utf-8") as file:
            given = tuple(_altered.plain(name) for name in next(csv.reader(file), FIXED_COLUMNS))
    more = given[len(FIXED_COLUMNS) :]
    names = ("part", *FIXED_COLUMNS, *frame_names(list(more)))
    if not files:
        schema = ", ".join(f"{name} {_TYPES.get(name, 'string')}" for name in names)
        return spark.createDataFrame([], schema)
    # Spark reads them by their place, because it may not like their names.
    places = StructType([StructField(f"c{number}", StringType()) for number in range(len(given))])
    lines = (
        spark.read.schema(places)
        .option("escape", '"')
        .option("multiLine", "true")
        .csv([f"file://{path}" for path in files])
    )
    # The header rows. Spark, which would skip them, would say of each file that it calls the columns otherwise. That of a result begins with a
    # number, whatever its texts are.
    frame = lines.where(~f.col(places[0].name).eqNullSafe(FIXED_COLUMNS[0]))
    columns = dict(zip(FIXED_COLUMNS, (f.col(field.name) for field in places), strict=False))
    texts = [plain(f.col(field.name)) for field in places.fields[len(FIXED_COLUMNS) :]]
    part = f.regexp_extract(f.col("_metadata.file_path"), r"/parts/(\d+)/[^/]+$", 1).cast("int")
    typed = [part, *_typed(columns), *texts]
    return frame.select(*(column.alias(name) for column, name in zip(typed, names, strict=True)))


def _typed(columns: dict[str, Column]) -> list[Column]:
    """The columns that each result has, with their types."""
    token, reason = plain(columns["token"]), plain(columns["reason"])
    # The reason of a row that could not be written stands behind its token.
    ending = f.lit(UNREADABLE)
    has_own = (columns["outcome"] == "invalid") & reason.endswith(ending) & token.contains(REASON)
    after = f.substring_index(token, REASON, -1)
    before = token.substr(f.lit(1), f.length(token) - f.length(after) - len(REASON))
    own = f.when(has_own, before).otherwise(f.coalesce(token, f.lit("")))
    found: dict[str, Column] = {
        **{name: plain(column) for name, column in columns.items()},
        # The command writes the token of an invalid row as the row has it.
        "token": f.when(own.rlike("^[0-9A-Fa-f]+$"), f.lower(own)).otherwise(own),
        "reason": f.when(has_own, after).otherwise(reason),
        "timestamp": f.timestamp_millis(columns["timestamp"].cast("bigint")),
    }
    for name, kind in _TYPES.items():
        if name in found and name != "timestamp":
            found[name] = columns[name].cast(kind)
    return [found[name] for name in FIXED_COLUMNS]
