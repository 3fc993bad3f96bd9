"""The results of a run as a DataFrame that Spark reads itself."""

from __future__ import annotations

import os
import pathlib
import re
from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql.types import StringType, StructField, StructType

from .._layout import RunLayout
from .._manifest import Manifest
from .._results import FIXED_COLUMNS, UNREADABLE, frame_names, header_of, results_of
from .._rows import REASON
from ._altered import plain

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

# Where Spark puts a line that has too few fields, for which it must look at all fields of each line.
_CUT = "_corrupt_record"
_TYPES = {"part": "int", "row": "bigint", "status": "int", "timestamp": "timestamp", "attempts": "int"}


def results(spark: SparkSession, run_dir: str | os.PathLike[str]) -> DataFrame:
    """One row for each row of a run that has an outcome, whoever sends or has sent it. To read it sends nothing.

    The columns are `part` (int), `row` (bigint, in the part), `token`, `outcome`, `status` (int), `reason`, `timestamp` (timestamp), `apns_id`,
    `attempts` (int), `apns_unique_id` and those of `result_columns`, as strings. One of these has `column_` in front of its name if, without
    regard to upper and lower case, the name is that of a column before it.

    :param spark: The session that reads them.
    :param run_dir: The directory of the run: `run.run_dir`, and not the pattern that it was made from.
    :raises ConfigurationError: The directory holds no run in parts.
    :raises StorageError: The results of a part are damaged.
    """
    layout = RunLayout.of(run_dir)
    paths = (results_of(layout, part.part) for part in Manifest.read(layout).parts)
    # A file without its first line has no results either.
    headers = {path: header for path in paths if (header := header_of(path)) is not None}
    given = next(iter(headers.values()), FIXED_COLUMNS)
    more = given[len(FIXED_COLUMNS) :]
    names = ("part", *FIXED_COLUMNS, *frame_names(list(more)))
    if not headers:
        schema = ", ".join(f"{name} {_TYPES.get(name, 'string')}" for name in names)
        return spark.createDataFrame([], schema)
    # Spark reads them by their place, because it may not like their names.
    places = [f"c{number}" for number in range(len(given))]
    lines = (
        spark.read.schema(StructType([StructField(name, StringType()) for name in (*places, _CUT)]))
        .option("escape", '"')
        .option("columnNameOfCorruptRecord", _CUT)
        .option("columnPruning", "false")
        .csv([f"file://{_literal(path)}" for path in headers])
    )
    # The header rows. Spark, which would skip them, would say of each file that it calls the columns otherwise. That of a result begins with a
    # number, whatever its texts are. A line with fewer fields is being written, or its sender was killed meanwhile.
    frame = lines.where(~f.col(places[0]).eqNullSafe(FIXED_COLUMNS[0]) & f.col(_CUT).isNull())
    columns = dict(zip(FIXED_COLUMNS, map(f.col, places), strict=False))
    texts = [plain(f.col(name)) for name in places[len(FIXED_COLUMNS) :]]
    part = f.regexp_extract(f.col("_metadata.file_path"), r"/parts/(\d+)/[^/]+$", 1).cast("int")
    typed = [part, *_typed(columns), *texts]
    return frame.select(*(column.alias(name) for column, name in zip(typed, names, strict=True)))


def _literal(path: pathlib.Path) -> str:
    """A path as a pattern of Spark that stands for itself alone."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path))


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
