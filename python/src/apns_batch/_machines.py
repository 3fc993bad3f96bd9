"""What a driver asks of the machines that freeze and send: one program's own threads, or the tasks of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ._faults import Fault
from ._freeze import Frozen
from ._layout import RunLayout
from ._needs import Needs
from ._proof import Presence, Proof
from ._schema import Schema
from ._sender import Said, SenderTask


class Machines(Protocol):
    """Each of these returns what went wrong as faults. They raise what is wrong with the rows."""

    def columns(self) -> tuple[str, ...]:
        """The names of the columns, for which the first rows of an iterator are read; none if there are no rows."""
        ...

    def schema(self) -> Schema:
        """What is compared with the rows of another call."""
        ...

    def fit(self, needs: Needs) -> None:
        """Raises ConfigurationError if a column has a type that its use cannot have."""
        ...

    def slots(self) -> int | None:
        """How many senders can be at work at the same time; None if nobody knows."""
        ...

    def prove(self, proof: Proof) -> Sequence[Presence | Fault]:
        """Has as many machines as possible show that they share the directory."""
        ...

    def freeze(self, layout: RunLayout, parts: int, proof: Proof, needs: Needs) -> Sequence[Frozen | Fault]:
        """Writes the rows into the input directory."""
        ...

    def send(self, task: SenderTask, senders: int, binary: str) -> Sequence[Said]:
        """Has senders work at the same time, with the command at a path here. Returns what they said when all have ended."""
        ...
