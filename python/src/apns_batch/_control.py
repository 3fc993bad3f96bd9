"""What all senders of a run are asked to do while they are at work, through a file that each of them looks at."""

from __future__ import annotations

import contextlib
import json
import re
from dataclasses import asdict, dataclass, replace

from ._errors import ConfigurationError
from ._layout import RunLayout, write_whole

_RATE = re.compile(r"rate[ =](\d+(?:\.\d+)?)(?:/s)?")


@dataclass(frozen=True)
class Wishes:
    """Nothing unless somebody has asked for it. The next start begins without."""

    is_paused: bool = False
    rate: float | None = None
    """Requests per second of all senders together; None for that of the run."""

    @staticmethod
    def read(layout: RunLayout) -> Wishes:
        with contextlib.suppress(OSError, ValueError, TypeError):
            return Wishes(**json.loads(layout.control.read_text(encoding="utf-8")))
        return Wishes()

    def after(self, request: str) -> Wishes:
        """Raises ConfigurationError if a request is none that is known."""
        if request in ("pause", "continue"):
            return replace(self, is_paused=request == "pause")
        if (found := _RATE.fullmatch(request)) and float(found[1]) > 0:
            return replace(self, rate=float(found[1]))
        raise ConfigurationError(f"control: {request!r}: expected pause, continue, stop, or rate=5000")

    def write(self, layout: RunLayout) -> None:
        write_whole(layout.control, json.dumps(asdict(self)) + "\n", 0o600)
