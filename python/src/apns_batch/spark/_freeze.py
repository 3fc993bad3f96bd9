"""Freezes the rows of a DataFrame into parts, and measures them where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as f
from pyspark.sql.types import StringType

from .._errors import ConfigurationError
from .._freeze import TOKEN, frozen_files, measured
from .._layout import RunLayout
from .._manifest import Part
from .._storage import check_storage, confirm_driver

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MEASURED = "part int, input string, bytes long, rows long"
_MEASURED_ARROW = pa.schema(
    [("part", pa.int32()), ("input", pa.string()), ("bytes", pa.int64()), ("rows", pa.int64())]
)


def check_columns(frame: DataFrame) -> None:
    """Raises ConfigurationError unless the rows have tokens, and every column its own name."""
    if len(set(frame.columns)) != len(frame.columns):
        raise ConfigurationError(f"two columns have the same name: {', '.join(frame.columns)}")
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    if not isinstance(kinds.get(TOKEN), StringType):
        raise ConfigurationError(
            f"the rows need a column {TOKEN} of strings; their columns are {', '.join(frame.columns)}"
        )


def freeze_frame(frame: DataFrame, layout: RunLayout, parts: int) -> None:
    """Writes the rows as NDJSON, with the committer of Spark, which is right about attempts that are repeated.

    The token decides the part of a row, so that no device gets pushes from two senders at once.
    """
    (
        frame.repartition(parts, f.lower(f.col(TOKEN)))
        .sortWithinPartitions(TOKEN)
        .write.mode("overwrite")
        .option("ignoreNullFields", "false")
        .option("lineSep", "\n")
        .json(f"file://{layout.input}")
    )
    if not layout.input_is_frozen.exists():
        raise ConfigurationError(
            f"{layout.input}: Spark wrote rows that the driver does not see: it must share the directory with the executors"
        )


def measure_parts(spark: SparkSession, layout: RunLayout) -> list[Part]:
    """Reads each part on an executor, which must see the file and respect the lock of the driver."""
    files = frozen_files(layout)
    if not files:
        return []

    def measure(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                confirm_driver(layout.lock)
                check_storage(layout.root)
                part = measured(layout, number, files[number])
                yield pa.RecordBatch.from_arrays(
                    [pa.array([value]) for value in (number, part.input, part.bytes, part.rows)],
                    names=_MEASURED_ARROW.names,
                ).cast(_MEASURED_ARROW)

    rows = spark.range(0, len(files), 1, len(files)).mapInArrow(measure, _MEASURED).collect()
    return sorted(
        (Part(row.part, row.input, row.bytes, row.rows) for row in rows), key=lambda part: part.part
    )
