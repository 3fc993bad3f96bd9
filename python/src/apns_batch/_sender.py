"""Sends a group of parts one after the other, as one task does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ._layout import RunLayout
from ._part import PartMessage, PartTask, send_part
from ._storage import confirm_driver


@dataclass(frozen=True)
class SenderTask:
    """The parts of one sender."""

    parts: tuple[PartTask, ...]


def send_group(binary: str, task: SenderTask, is_over: Callable[[], bool]) -> Iterator[PartMessage]:
    """Sends the parts of a group. Before each, the program that started the run must still be there."""
    for part in task.parts:
        confirm_driver(RunLayout.of(part.run_dir).lock)
        yield send_part(binary, part, is_over)


def grouped(tasks: list[tuple[int, PartTask]], senders: int) -> list[SenderTask]:
    """Divides parts, each with its size, into at most `senders` groups of about the same size: the largest first, each to the group that
    has least so far."""
    groups: list[tuple[int, list[PartTask]]] = [(0, []) for _ in range(max(1, min(senders, len(tasks))))]
    for size, task in sorted(tasks, key=lambda entry: (-entry[0], entry[1].part)):
        least = min(range(len(groups)), key=lambda index: groups[index][0])
        total, parts = groups[least]
        groups[least] = (total + size, [*parts, task])
    return [SenderTask(tuple(parts)) for _, parts in groups if parts]
