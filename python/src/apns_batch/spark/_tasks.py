"""Tasks of a job: one for each of some numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SAID = "said string"


def for_each(
    spark: SparkSession, count: int, work: Callable[[int], Iterator[object]], profile: Any = None
) -> list[Any]:
    """Calls `work` with each number below `count`, in a task of its own, and returns all values that it yields, which are those of JSON.

    :param profile: The resource profile of a task; None for that of the session.
    """
    if count == 0:
        return []

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for value in work(number):
                    yield pa.RecordBatch.from_pydict({"said": [json.dumps(value)]})

    more = {} if profile is None else {"profile": profile}
    rows = spark.range(0, count, 1, count).mapInArrow(task, _SAID, **more).collect()
    return [json.loads(row.said) for row in rows]
