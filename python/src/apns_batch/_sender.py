"""A sender: takes parts of a run, one after the other, until all are complete."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ._claim import Claim, claim_of
from ._errors import ApnsBatchError, SenderInterruptedError
from ._faults import Fault
from ._freeze import check_frozen
from ._layout import RunLayout
from ._pace import Pace, Steering
from ._part import INTERRUPTED, PartMessage, PartTask, send_part, stop_all
from ._proof import Presence, Proof

_log = logging.getLogger("apns_batch")

# How often a part is tried in one start, by all senders together.
ATTEMPTS = 4
_LOOK_SECONDS = 0.5

Said = PartMessage | Presence | Fault
"""What a sender says while it works."""


@dataclass(frozen=True)
class SenderTask:
    """What a sender needs to know. All senders of a run have the same task."""

    run_dir: str
    parts: tuple[PartTask, ...]
    """In the order in which they are taken."""
    senders: int
    rate: float | None
    """Requests per second of all senders together."""
    proof: Proof
    lanes: int = 1
    """The sending threads of each of them."""


def send_parts(binary: str, task: SenderTask, is_over: Callable[[], bool]) -> Iterator[Said]:
    """Takes the next part that nobody has, until all are complete, and says how each of them ended.

    It does not end before all parts have: whoever has a part may be killed, and then it is taken by another sender. What goes wrong is said
    as a fault, and ends the sender.
    """
    layout = RunLayout.of(task.run_dir)
    try:
        yield task.proof.show()
        with Pace(layout, task.senders, task.rate) as pace:
            pace.wait_for_share(lambda: is_over() or layout.stop.exists())
            yield from _Sender(binary, task, layout, pace, is_over).run()
    except (ApnsBatchError, OSError) as error:
        fault = Fault.of(error)
        if not task.proof.is_replaced():
            stop_all(layout, -1, INTERRUPTED, fault.text)
        yield fault


@dataclass(frozen=True)
class _Sender:
    binary: str
    task: SenderTask
    layout: RunLayout
    pace: Pace
    is_over: Callable[[], bool]

    def run(self) -> Iterator[PartMessage]:
        left: list[PartTask] = list(self.task.parts)
        while left and not self.is_over():
            self.task.proof.check()
            message = self._next(left)
            if self.layout.stop.exists():
                yield from [message] if message else []
                return
            if message is None:
                time.sleep(_LOOK_SECONDS)
                continue
            yield message
            left = [part for part in left if part.part.part != message.part]

    def _next(self, left: list[PartTask]) -> PartMessage | None:
        """How the first of the parts ended that can be had; None if others have them all, or if it has to be tried again."""
        self.pace.look()
        if self.pace.is_paused:
            return None
        for part in left:
            with claim_of(self.layout, part.part.part, self.task.proof.content) as claim:
                if claim is not None:
                    return claim.message or self._send(part, claim)
        return None

    def _send(self, part: PartTask, claim: Claim) -> PartMessage | None:
        number = part.part.part
        if not part.retries_unavailable:
            check_frozen(self.layout, part.part)
        steer = Steering(self.pace, self.binary, self.layout.part(number))

        def is_over() -> bool:
            steer()
            return self.is_over()

        try:
            held = claim.file.fileno()
            claim.message = send_part(self.binary, part, is_over, self.pace.flags(), held)
        except SenderInterruptedError as error:
            claim.interruptions += 1
            claim.keep()
            self.task.proof.check()
            if claim.interruptions >= ATTEMPTS:
                raise
            if not self.is_over():
                _log.warning("%s; it is resumed", error)
            return None
        if claim.message.is_complete:
            claim.keep()
        return claim.message
