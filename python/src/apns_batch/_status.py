"""How a run in parts stands, while it is sent and afterwards."""

from __future__ import annotations

import contextlib
import json
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._command import ask, find_binary, said_wrong
from ._errors import ConfigurationError
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
    outcomes: Mapping[str, int] = field(default_factory=lambda: dict[str, int]())
    """The rows of all parts by their outcome, such as `accepted`, also while they are sent."""

    @property
    def rows(self) -> int:
        """The rows of all parts."""
        return sum(part.rows for part in self.parts)

    @property
    def ended(self) -> int:
        """The rows of all parts that have an outcome."""
        return sum(part.ended for part in self.parts)

    @property
    def unavailable(self) -> int:
        """The rows that ended as unavailable: `retry_unavailable` of a complete run sends them again."""
        return self.outcomes.get("unavailable", 0)

    @property
    def is_complete(self) -> bool:
        """Whether every row has an outcome, and nobody is at work."""
        return self.count("complete") == len(self.parts)

    def count(self, state: str) -> int:
        """The number of parts in a state.

        :param state: As :attr:`PartStatus.state`.
        """
        return sum(1 for part in self.parts if part.state == state)


# The states that the command has other names for.
_STATES = {"damaged": "unknown"}


def read_status(layout: RunLayout, manifest: Manifest) -> Status:
    """Reads how a run stands, with one process of the command for all parts.

    :raises ConfigurationError: The command cannot read it.
    """
    if not manifest.parts:
        return Status(())
    said: dict[str, Any] = json.loads(_asked(layout.root))
    found = {int(part["part"]): part for part in said["parts"]}
    return Status(tuple(_status_of(part, found[part.part]) for part in manifest.parts), said["outcomes"])


def _asked(directory: pathlib.Path) -> str:
    """The answer of the command, which ends with 2 while rows are left."""
    done = ask([find_binary(), "status", str(directory), "--json", "--ranges", "1"])
    if done.returncode not in (0, 2):
        raise ConfigurationError(said_wrong(done.stderr) or f"status ended with {done.returncode}")
    return done.stdout


def _status_of(part: Part, said: Mapping[str, Any]) -> PartStatus:
    state = str(said["state"])
    return PartStatus(part.part, _STATES.get(state, state), part.rows, int(said["ended"]))


class StatusReader:
    """Reads the parts of a run again and again. Of all, those that are complete are read once."""

    def __init__(self, layout: RunLayout, manifest: Manifest) -> None:
        self._layout, self._manifest = layout, manifest
        self._complete: dict[int, PartStatus] = {}

    def read(self) -> Status:
        """How the parts stand now, without their outcomes."""
        if not self._complete:
            status = read_status(self._layout, self._manifest)
            self._complete = {part.part: part for part in status.parts if part.state == "complete"}
            return status
        return Status(
            tuple(self._complete.get(part.part) or self._read(part) for part in self._manifest.parts)
        )

    def _read(self, part: Part) -> PartStatus:
        directory = self._layout.part(part.part)
        if not (directory / "ledger").exists():
            return PartStatus(part.part, "waiting", part.rows, 0)
        status = _one(part, directory)
        if status.state == "complete":
            self._complete[part.part] = status
        return status


def _one(part: Part, directory: pathlib.Path) -> PartStatus:
    """How a part stands by what the command says of its directory alone."""
    done = ask([find_binary(), "status", str(directory), "--json", "--ranges", "1"])
    said: dict[str, Any] = {}
    with contextlib.suppress(ValueError):
        said = json.loads(done.stdout)
    words = str(said.get("state", ""))
    state = "unknown" if not words else "sending" if words.endswith("at work") else "stopped"
    return PartStatus(
        part.part, "complete" if done.returncode == 0 else state, part.rows, int(said.get("ended", 0))
    )
