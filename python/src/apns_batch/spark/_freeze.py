"""Freezes the rows of a DataFrame into parts, and measures them where they lie."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Collection, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from .._errors import ConfigurationError
from .._freeze import frozen_files, measured
from .._layout import RunLayout
from .._manifest import Part
from .._storage import check_storage, confirm_driver
from .._values import TOKEN
from ._lines import frame_lines
from ._tasks import for_each

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@functools.cache
def _check_once(directory: pathlib.Path) -> None:
    """Looks at the directory once in each Python worker, which measures several parts."""
    check_storage(directory)


def freeze_frame(frame: DataFrame, layout: RunLayout, parts: int, left_out: Collection[str] = ()) -> None:
    """Writes the rows as NDJSON, with the committer of Spark, which is right about attempts that are repeated.

    The token decides the part of a row, so that no device gets pushes from two senders at once.

    :param left_out: Columns that are not written.
    """
    (
        frame_lines(frame, left_out)
        .repartition(parts, f.col(TOKEN))
        .sortWithinPartitions(TOKEN)
        .select("line")
        .write.mode("overwrite")
        .option("compression", "none")
        .option("lineSep", "\n")
        .text(f"file://{layout.input}")
    )
    if not layout.input_is_frozen.exists():
        raise ConfigurationError(
            f"{layout.input}: Spark wrote rows that the driver does not see: it must share the directory with the executors"
        )


def measure_parts(spark: SparkSession, layout: RunLayout) -> list[Part]:
    """Reads each part on an executor, which must see the file and respect the lock of the driver."""
    files = frozen_files(layout)

    def measure(number: int) -> Iterator[dict[str, Any]]:
        confirm_driver(layout.lock)
        _check_once(layout.root)
        yield asdict(measured(layout, number, files[number]))

    parts = [Part(**said) for said in for_each(spark, len(files), measure)]
    return sorted(parts, key=lambda part: part.part)
