"""What a campaign does with the columns of rows, as the command says it."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import ConfigurationError
from ._values import TOKEN


@dataclass(frozen=True)
class Needs:
    """What a campaign does with columns."""

    where: Mapping[str, tuple[str, ...]] | None = None
    """What uses a column, such as `payload.json:1:20` or `expiration`; None if the command does not say it."""

    def uses(self, column: str) -> bool:
        """Whether a column is read, or may be. Others are not frozen, so that their values spoil no row."""
        return self.where is None or column == TOKEN or column in self.where

    def used(self, columns: Iterable[str]) -> tuple[str, ...]:
        """The columns among these that are read, or may be, in their order."""
        return tuple(column for column in columns if self.uses(column))

    def place(self, column: str) -> str:
        """Where the campaign names the column, for a message."""
        places = (self.where or {}).get(column, ())
        return f" (used by {', '.join(places)})" if places else ""

    def fit(self, unfit: Mapping[str, str]) -> None:
        """Compares the types of columns with what is read.

        :param unfit: Columns whose type no row can have, and what was expected and found.
        :raises ConfigurationError: The campaign uses one of them, or may do so.
        """
        faults = [
            f"column {name}: {fault}{self.place(name)}" for name, fault in unfit.items() if self.uses(name)
        ]
        if faults:
            raise ConfigurationError("\n".join(faults))


def needs_of(said: Mapping[str, Any], copy: pathlib.Path) -> Needs:
    """What the command says of a copy of a campaign, by the names that the rows have.

    Raises ConfigurationError if the token has another name.
    """
    sources = _sources(copy)
    needs: dict[str, tuple[str, ...]] = {}
    for need in said["needs"]:
        # What the campaign calls otherwise is needed under the name that the rows have.
        own: str = need["column"]
        for column in {own, sources.get(own, own)}:
            needs[column] = (*needs.get(column, ()), *need["uses"])
    # A part demands the source of each of these names, whether it uses the name or not.
    for source in sources.values():
        needs.setdefault(source, ("columns",))
    return Needs(needs)


def copied_settings(copy: pathlib.Path) -> dict[str, Any]:
    """The settings in the copy of a campaign, which the command writes as JSON. Paths are relative to its directory."""
    settings: dict[str, Any] = json.loads((copy / "campaign.yaml").read_text(encoding="utf-8"))
    return settings


def _sources(copy: pathlib.Path) -> dict[str, str]:
    """The columns of rows that the campaign has other names for (`columns`), by these names.

    Raises ConfigurationError if the token is among them: the parts of a run are made by the column `token`.
    """
    renamed: dict[str, str] = copied_settings(copy).get("columns") or {}
    if TOKEN in renamed:
        raise ConfigurationError(
            f'columns: expected rows that have "{TOKEN}" under its own name; rename "{renamed[TOKEN]}" of the rows'
        )
    return {name: first_key(path) for name, path in renamed.items()}


def first_key(path: str) -> str:
    """The first key of a path, whose keys are separated by dots. A backslash takes that meaning from a dot or a backslash behind it."""
    # One at the end stands for itself.
    found = re.match(r"(?:\\.|[^.\\])*\\?", path, re.DOTALL)
    return re.sub(r"\\([.\\])", r"\1", found[0] if found else "")
