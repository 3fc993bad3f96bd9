"""Who of the senders has which part, and how it ended: a file for each part, whose lock is the claim."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator
from dataclasses import asdict, dataclass
from typing import IO, Any

from ._layout import RunLayout
from ._part import PartMessage
from ._storage import is_locked, try_lock


@dataclass
class Claim:
    """A part that belongs to this sender, until the block ends and the process that sends the part does, too."""

    file: IO[str]
    start: str
    """Which start of the run it belongs to. What a sender of an earlier one wrote says nothing."""
    interruptions: int = 0
    """How often a sender of the part ended early since the run was started."""
    message: PartMessage | None = None
    """How the part ended; None if it has not since then."""

    def keep(self) -> None:
        """Writes what is known of the part, for whoever has it next."""
        message = None if self.message is None else asdict(self.message)
        self.file.seek(0)
        self.file.truncate()
        json.dump({"start": self.start, "interruptions": self.interruptions, "message": message}, self.file)
        self.file.flush()


@contextlib.contextmanager
def claim_of(layout: RunLayout, part: int, start: str) -> Generator[Claim | None, None, None]:
    """Takes a part, or gives None if another sender has it.

    That no row is sent twice does not depend on it: the lock of the part's ledger sees to that.
    """
    layout.claims.mkdir(mode=0o700, exist_ok=True)
    with open(layout.claims / f"{part:05}", "a+", encoding="utf-8") as file:
        if not try_lock(file):
            yield None
            return
        file.seek(0)
        yield _read(file, start)


def has_senders(layout: RunLayout) -> bool:
    """Whether a sender of an earlier start still has a part, such as one that ends at the moment."""
    return any(is_locked(path) for path in layout.claims.glob("*"))


def _read(file: IO[str], start: str) -> Claim:
    # What was written in part says nothing.
    with contextlib.suppress(ValueError, KeyError, TypeError):
        said: dict[str, Any] = json.load(file)
        if said["start"] == start:
            message = said["message"]
            message = None if message is None else PartMessage(**message)
            return Claim(file, start, int(said["interruptions"]), message)
    return Claim(file, start)
