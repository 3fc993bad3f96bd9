"""How a run in parts stands, while it is sent and afterwards."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import Any

from ._command import ask, find_binary
from ._layout import RunLayout
from ._manifest import Manifest, Part


@dataclass(frozen=True)
class PartStatus:
    """How a part stands."""

    part: int
    state: str
    """waiting (not begun), sending, stopped (begun, and nobody is at work), complete or unknown."""
    rows: int
    ended: int
    """The rows that have an outcome."""


@dataclass(frozen=True)
class Status:
    """How a run in parts stands."""

    parts: tuple[PartStatus, ...]

    @property
    def rows(self) -> int:
        """The rows of all parts."""
        return sum(part.rows for part in self.parts)

    @property
    def ended(self) -> int:
        """The rows of all parts that have an outcome."""
        return sum(part.ended for part in self.parts)

    def count(self, state: str) -> int:
        """The number of parts in a state."""
        return sum(1 for part in self.parts if part.state == state)


class StatusReader:
    """Reads the status of a run again and again. Parts that are complete are read once."""

    def __init__(self, layout: RunLayout, manifest: Manifest) -> None:
        self._layout, self._manifest = layout, manifest
        self._binary = find_binary()
        self._complete: dict[int, PartStatus] = {}

    def read(self) -> Status:
        return Status(
            tuple(self._complete.get(part.part) or self._read(part) for part in self._manifest.parts)
        )

    def _read(self, part: Part) -> PartStatus:
        directory = self._layout.part(part.part)
        if not (directory / "ledger").exists():
            return PartStatus(part.part, "waiting", part.rows, 0)
        command = [self._binary, "status", str(directory), "--json", "--ranges", "1"]
        done = ask(command)
        said: dict[str, Any] = {}
        with contextlib.suppress(ValueError):
            said = json.loads(done.stdout)
        ended = int(said.get("ended", 0))
        if done.returncode == 0:
            status = PartStatus(part.part, "complete", part.rows, ended)
            self._complete[part.part] = status
            return status
        words = str(said.get("state", ""))
        state = "unknown" if not words else "sending" if words.endswith("at work") else "stopped"
        return PartStatus(part.part, state, part.rows, ended)
