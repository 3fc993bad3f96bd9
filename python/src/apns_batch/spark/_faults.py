"""Stops all senders at the first fault. A machine that has lost the directory cannot say so in it."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from pyspark.accumulators import AccumulatorParam

from .._layout import RunLayout
from .._part import INTERRUPTED, stop_all

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator
    from pyspark.sql import SparkSession

_LOOK_SECONDS = 0.5


class _Texts(AccumulatorParam[Any]):
    def zero(self, value: Any) -> Any:
        return []

    def addInPlace(self, value1: Any, value2: Any) -> Any:
        return value1 + value2


def faults_of(spark: SparkSession) -> Accumulator[Any] | None:
    """What tasks add their faults to, which the driver sees when the task has ended; None with Spark Connect, which has no such thing."""
    with contextlib.suppress(Exception):
        return spark.sparkContext.accumulator([], _Texts())
    return None


@contextlib.contextmanager
def stopping_at(faults: Accumulator[Any] | None, layout: RunLayout) -> Generator[None, None, None]:
    """Within the block, the first fault stops all senders."""
    if faults is None:
        yield
        return
    ends = threading.Event()
    thread = threading.Thread(target=_watch, args=(faults, layout, ends), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def _watch(faults: Accumulator[Any], layout: RunLayout, ends: threading.Event) -> None:
    while not ends.wait(_LOOK_SECONDS):
        if faults.value:
            stop_all(layout, -1, INTERRUPTED, faults.value[0])
            return
