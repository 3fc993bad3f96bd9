"""Freezes the rows of a DataFrame into parts, each by the task that has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import functions as f

from .._errors import ApnsBatchError
from .._faults import Fault
from .._freeze import Frozen, PartWriter
from .._layout import RunLayout
from .._needs import Needs
from .._proof import Proof
from .._values import TOKEN
from ._lines import frame_lines
from ._tasks import SAID, described, said

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def freeze_frame(frame: DataFrame, parts: int, proof: Proof, needs: Needs) -> list[Frozen | Fault]:
    """Writes the rows as NDJSON, with the columns that are used, and returns what the tasks say that they wrote.

    Of each task, Spark accepts the results of one attempt: the files of others are in no report. The token decides the part of a row, so
    that no device gets pushes from two senders at once.
    """
    token = f.col(TOKEN)
    lines = (
        frame_lines(frame, needs)
        .repartition(parts, token)
        .sortWithinPartitions(TOKEN)
        # By this number Spark divides, too. A session that changes parts afterwards is noticed by it.
        .select("line", f.expr(f"pmod(hash(lower({TOKEN})), {parts})").alias("bucket"))
    )
    with described(frame.sparkSession, "freezes the rows"):
        rows = lines.mapInArrow(_task(proof), SAID).collect()
    return [_reported(json.loads(row.said)) for row in rows]


def _reported(said: dict[str, Any]) -> Frozen | Fault:
    if "kind" in said:
        return Fault(**said)
    fields: dict[str, Any] = {**said, "buckets": tuple(said["buckets"])}
    return Frozen(**fields)


def _task(proof: Proof) -> Any:
    def task(batches: Iterator[Any]) -> Iterator[Any]:
        # The rows themselves may fail, by a function of the caller: that is an error of Spark, as in any other job.
        writer = _Writer(proof)
        for batch in batches:
            if not writer.write(batch):
                break
        yield said(asdict(writer.finish()))

    return task


class _Writer:
    """Writes the rows of a task, until something goes wrong."""

    def __init__(self, proof: Proof) -> None:
        self._fault: Fault | None = None
        self._buckets: set[int] = set()
        try:
            self._host = proof.show().host
            context = TaskContext.get()
            number = 0 if context is None else context.partitionId()
            self._writer = PartWriter(RunLayout.of(proof.run_dir), number)
        except (ApnsBatchError, OSError) as error:
            self._fault = Fault.of(error)

    def write(self, batch: Any) -> bool:
        """Writes the lines of a batch of Arrow. Returns whether all is well."""
        if self._fault is None:
            lines: list[bytes] = batch.column(0).cast(pa.binary()).to_pylist()
            self._buckets.update(batch.column(1).unique().to_pylist())
            try:
                self._writer.write(b"".join(line + b"\n" for line in lines), len(lines))
            except OSError as error:
                self._fault = Fault.of(error)
        return self._fault is None

    def finish(self) -> Frozen | Fault:
        if self._fault is None:
            try:
                return replace(self._writer.finish(), host=self._host, buckets=tuple(sorted(self._buckets)))
            except OSError as error:
                self._fault = Fault.of(error)
        return self._fault
