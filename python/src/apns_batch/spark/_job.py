"""The job that sends: one task for each group of parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .._command import find_binary
from .._part import ParentWatch, PartMessage
from .._sender import SenderTask, send_group
from ._tasks import for_each

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def send_groups(spark: SparkSession, groups: Sequence[SenderTask], lanes: int) -> list[PartMessage]:
    """Runs a task for each group, and returns what they say of their parts.

    Attempts may overlap, and may be repeated: the lock of a part lets one of them send, and all of them return the same. A task that fails is
    repeated by Spark, and goes on where it ended.
    """

    def send(index: int) -> Iterator[dict[str, Any]]:
        for message in send_group(find_binary(), groups[index], ParentWatch()):
            yield asdict(message)

    return [PartMessage(**said) for said in for_each(spark, len(groups), send, _profile(spark, lanes))]


def _profile(spark: SparkSession, lanes: int) -> Any:
    """Asks for a core for each lane, where Spark can give one task several: version 4 and more, on a cluster."""
    master = spark.conf.get("spark.master", "") or ""
    is_local = master.startswith("local[") or master == "local"
    if lanes == 1 or is_local or int(spark.version.split(".")[0]) < 4:
        return None
    from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests  # noqa: PLC0415

    return ResourceProfileBuilder().require(TaskResourceRequests().cpus(lanes)).build
