"""The job that sends: one task for each group of parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._binary import find_binary
from .._part import ParentWatch, PartMessage
from .._sender import SenderTask, send_group

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MESSAGE = "message string"


def send_groups(spark: SparkSession, groups: Sequence[SenderTask], lanes: int) -> list[PartMessage]:
    """Runs a task for each group, and returns what they say of their parts.

    Attempts may overlap, and may be repeated: the lock of a part lets one of them send, and all of them return the same. A task that fails is
    repeated by Spark, and goes on where it ended.
    """

    def send(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        binary, parent = find_binary(), ParentWatch()
        for batch in batches:
            for index in batch.column(0).to_pylist():
                for message in send_group(binary, groups[index], parent):
                    yield pa.RecordBatch.from_pydict({"message": [json.dumps(asdict(message))]})

    tasks = spark.range(0, len(groups), 1, len(groups))
    rows = tasks.mapInArrow(send, _MESSAGE, **_profile(spark, lanes)).collect()
    return [PartMessage(**json.loads(row.message)) for row in rows]


def _profile(spark: SparkSession, lanes: int) -> dict[str, Any]:
    """Asks for a core for each lane, where Spark can give one task several: version 4 and more, on a cluster."""
    master = spark.conf.get("spark.master", "") or ""
    is_local = master.startswith("local[") or master == "local"
    if lanes == 1 or is_local or int(spark.version.split(".")[0]) < 4:
        return {}
    from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests  # noqa: PLC0415

    return {"profile": ResourceProfileBuilder().require(TaskResourceRequests().cpus(lanes)).build}
