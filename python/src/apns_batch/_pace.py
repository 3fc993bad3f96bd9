"""The share of a sender in the rate of a run, which those divide that are really at work."""

from __future__ import annotations

import contextlib
import pathlib
import time
from collections.abc import Callable
from types import TracebackType
from typing import IO

from ._command import ask
from ._control import Wishes
from ._layout import RunLayout
from ._storage import is_locked, try_lock

_LOOK_SECONDS = 1.0
# A seat is free for a moment when its sender is replaced. Only who stays away leaves its share to others.
_STABLE_SECONDS = 5.0
_SEAT_SECONDS = 2.0
_JOIN_SECONDS = 5.0


def rate_text(per_second: float) -> str:
    """A rate as the command reads it, rounded down: whole requests a second, or an hour if they are few."""
    if per_second >= 100:
        return f"{int(per_second)}/s"
    return f"{max(1, int(per_second * 3600))}/h"


class Pace:
    """A seat among the senders of a run, with the share that belongs to it.

    Each sender has at least the rate divided by the number of all senders. What the seats of others, which nobody has taken, would have is
    shared. A sender lowers its share before another one takes it.
    """

    def __init__(self, layout: RunLayout, senders: int, rate: float | None) -> None:
        self._layout, self._senders, self._rate = layout, senders, rate
        self._wishes = Wishes.read(layout)
        self._seat: IO[str] | None = None
        self._number = -1
        self._share = self._least()
        self._taken, self._stable_since = 0, time.monotonic()
        self._looked = 0.0

    def __enter__(self) -> Pace:
        self._layout.seats.mkdir(mode=0o700, exist_ok=True)
        for number in range(self._senders):
            self._path(number).touch(0o600)
        deadline = time.monotonic() + _SEAT_SECONDS
        while not self._sit_down() and time.monotonic() < deadline:
            time.sleep(0.1)
        self._say()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._seat is not None:
            self._seat.close()

    def _sit_down(self) -> bool:
        for number in range(self._senders):
            # Kept open: the lock lives as long as the file.
            file = open(self._path(number), "r+", encoding="ascii")  # noqa: SIM115
            if try_lock(file):
                self._seat, self._number = file, number
                return True
            file.close()
        return False

    def _path(self, number: int) -> pathlib.Path:
        return self._layout.seats / str(number)

    @property
    def is_paused(self) -> bool:
        return self._wishes.is_paused

    def wait_for_share(self, is_over: Callable[[], bool]) -> None:
        """Waits until the others have left this sender its share."""
        deadline = time.monotonic() + _JOIN_SECONDS
        while not is_over() and time.monotonic() < deadline:
            rate, share = self._total(), self._share
            if rate is None or share is None or sum(self._others()) + share <= rate * 1.001:
                return
            time.sleep(0.2)

    def flags(self) -> list[str]:
        """The rate of a process that begins now."""
        return [] if self._share is None else ["--rate", rate_text(self._share)]

    def look(self) -> bool:
        """Looks, once a second, at what is asked and who is at work. Returns whether it has looked."""
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return False
        self._looked = now
        before = self._total()
        self._wishes = Wishes.read(self._layout)
        if self._total() is not None:
            self._divide(now, has_new_rate=before != self._total())
        return True

    @property
    def share(self) -> float | None:
        """Requests per second; None for no limit."""
        return self._share

    def _total(self) -> float | None:
        return self._wishes.rate or self._rate

    def _least(self) -> float | None:
        total = self._total()
        return None if total is None else total / self._senders

    def _divide(self, now: float, has_new_rate: bool) -> None:
        total, least, others = self._total(), self._least(), self._others()
        assert total is not None
        assert least is not None
        if len(others) != self._taken:
            self._taken, self._stable_since = len(others), now
        fair = total / (len(others) + 1)
        # A seat cannot be had by somebody else meanwhile: without one, nobody counts this sender.
        may_rise = self._seat is not None and now - self._stable_since >= _STABLE_SECONDS
        if self._share is None or has_new_rate:
            self._share = least
        elif fair < self._share:
            self._share = max(least, fair)
        elif may_rise:
            self._share = max(least, min(fair, total - sum(others)))
        self._say()

    def _others(self) -> list[float]:
        """The shares of those that have the other seats."""
        shares: list[float] = []
        for number in range(self._senders):
            if number != self._number and is_locked(self._path(number)):
                with contextlib.suppress(OSError, ValueError):
                    shares.append(float(self._path(number).read_text(encoding="ascii") or 0))
        return shares

    def _say(self) -> None:
        if self._seat is not None and self._share is not None:
            # Of one length: a reader finds the old number or the new one.
            self._seat.seek(0)
            self._seat.write(f"{self._share:<24.6f}")
            self._seat.flush()


class Steering:
    """Brings what a pace says to the process that sends a part."""

    def __init__(self, pace: Pace, binary: str, directory: pathlib.Path) -> None:
        self._pace, self._binary, self._directory = pace, binary, directory
        self._share = pace.share
        self._is_paused = False

    def __call__(self) -> None:
        """Asks the process for what has changed. Until it listens, it is asked again a second later."""
        if not self._pace.look():
            return
        is_paused, share = self._pace.is_paused, self._pace.share
        # Before it goes on, it knows how fast.
        if share is not None and share != self._share and self._ask("rate", rate_text(share)):
            self._share = share
        if is_paused != self._is_paused and self._ask("pause" if is_paused else "continue"):
            self._is_paused = is_paused

    def _ask(self, *request: str) -> bool:
        return ask([self._binary, "control", str(self._directory), *request]).returncode == 0
