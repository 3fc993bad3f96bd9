"""The machines of Spark: tasks that prove, freeze and send."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, cast

from .._command import find_binary
from .._errors import ApnsBatchError
from .._faults import Fault
from .._freeze import Frozen
from .._layout import RunLayout
from .._needs import Needs
from .._part import ParentWatch, PartMessage
from .._proof import Presence, Proof
from .._schema import Schema
from .._sender import Said, SenderTask, send_parts
from .._storage import check_storage
from ._faults import faults_of, stopping_at
from ._freeze import freeze_frame
from ._tasks import for_each

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KINDS = {kind.__name__: kind for kind in (PartMessage, Presence, Fault)}
# Long enough that a free executor gets a task before another one is done with its first.
_PROOF_SECONDS = 0.2


@dataclass(frozen=True)
class Cluster:
    """The executors of a session, as the machines of a run."""

    spark: SparkSession
    frame: DataFrame | None
    """The rows; None if they are frozen."""
    senders: int
    unfit: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())
    """The columns of types that no row can have, with what was expected and found."""

    def columns(self) -> tuple[str, ...]:
        return () if self.frame is None else tuple(self.frame.columns)

    def schema(self) -> Schema:
        if self.frame is None:
            return Schema()
        kinds = {field.name: field.dataType.simpleString() for field in self.frame.schema.fields}
        return Schema(kinds, source="spark")

    def fit(self, needs: Needs) -> None:
        needs.fit(self.unfit)

    def slots(self) -> int | None:
        """None with Spark Connect, and while a cluster may grow."""
        if self.spark.conf.get("spark.dynamicAllocation.enabled", "false") == "true":
            return None
        with contextlib.suppress(Exception):
            context: Any = cast(Any, self.spark.sparkContext)._jsc.sc()
            return int(
                context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile())
            )
        return None

    def prove(self, proof: Proof) -> Sequence[Presence | Fault]:
        """A task for each slot, which Spark gives to all executors that are there. Others prove it with their first rows or parts."""

        def show(_: int) -> Iterator[object]:
            try:
                presence = proof.show()
                check_storage(RunLayout.of(proof.run_dir).root)
            except (ApnsBatchError, OSError) as error:
                yield _said(Fault.of(error))
                return
            time.sleep(_PROOF_SECONDS)
            yield _said(presence)

        count = max(self.slots() or 0, self.senders)
        return [_heard(each) for each in for_each(self.spark, count, show, "looks at the run directory")]

    def freeze(self, layout: RunLayout, parts: int, proof: Proof, needs: Needs) -> Sequence[Frozen | Fault]:
        assert self.frame is not None
        return freeze_frame(self.frame, parts, proof, needs)

    def send(self, task: SenderTask, senders: int, binary: str) -> Sequence[Said]:
        """Runs a task for each sender.

        Attempts may overlap, and may be repeated: the lock of a part lets one of them send, and all of them return the same. A task that is
        killed is repeated by Spark, and goes on where it ended.
        """

        faults = faults_of(self.spark)

        def send(_: int) -> Iterator[object]:
            for each in _sent(task):
                if faults is not None and isinstance(each, Fault):
                    faults.add([each.text])
                yield _said(each)

        profile = _profile(self.spark, task.lanes)
        with stopping_at(faults, RunLayout.of(task.run_dir)):
            return [_heard(each) for each in for_each(self.spark, senders, send, "sends", profile)]


def _sent(task: SenderTask) -> Iterator[Said]:
    try:
        binary = find_binary()
    except ApnsBatchError as error:
        yield Fault.of(error)
        return
    yield from send_parts(binary, task, ParentWatch())


def _said(value: Said) -> dict[str, Any]:
    return {"is": type(value).__name__, **asdict(value)}


def _heard(said: dict[str, Any]) -> Any:
    return _KINDS[said.pop("is")](**said)


def _profile(spark: SparkSession, lanes: int) -> Any:
    """Asks for a core for each lane, where Spark can give one task several: version 4 and more, on a cluster."""
    master = spark.conf.get("spark.master", "") or ""
    is_local = master.startswith("local[") or master == "local"
    if lanes == 1 or is_local or int(spark.version.split(".")[0]) < 4:
        return None
    from pyspark.resource import ResourceProfileBuilder, TaskResourceRequests  # noqa: PLC0415

    return ResourceProfileBuilder().require(TaskResourceRequests().cpus(lanes)).build
