"""Tasks of a job: one for each of some numbers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAID = "said string"


def for_each(
    spark: SparkSession,
    count: int,
    work: Callable[[int], Iterator[object]],
    description: str,
    profile: Any = None,
) -> list[Any]:
    """Calls `work` with each number below `count`, in a task of its own, and returns all values that it yields, which are those of JSON.

    :param description: What the job is, in the user interface of Spark.
    :param profile: The resource profile of a task; None for that of the session.
    """
    if count == 0:
        return []

    def task(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                for value in work(number):
                    yield said(value)

    more = {} if profile is None else {"profile": profile}
    with described(spark, description):
        rows = spark.range(0, count, 1, count).mapInArrow(task, SAID, **more).collect()
    return [json.loads(row.said) for row in rows]


def said(value: object) -> Any:
    """A value of JSON, as a task says it: a batch of Arrow."""
    return cast(Any, pa).RecordBatch.from_pydict({"said": [json.dumps(value)]})


@contextlib.contextmanager
def described(spark: SparkSession, description: str) -> Generator[None, None, None]:
    """Names the jobs of this thread in the user interface of Spark. A session of Spark Connect has no names for jobs."""
    try:
        context = spark.sparkContext
        before = context.getLocalProperty(_DESCRIPTION)
    except Exception:
        yield
        return
    context.setLocalProperty(_DESCRIPTION, f"apns-batch: {description}")
    try:
        yield
    finally:
        # None removes it.
        context.setLocalProperty(_DESCRIPTION, before)  # type: ignore[arg-type]


_DESCRIPTION = "spark.job.description"
