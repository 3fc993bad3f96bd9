"""The columns of the rows, compared with what the campaign needs, before a row is frozen."""

from __future__ import annotations

import functools
import json
import pathlib
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ._campaign import Campaign
from ._command import ask, demand, said_wrong
from ._errors import ConfigurationError
from ._values import TOKEN

_USAGE = 64


@dataclass(frozen=True)
class Needs:
    """What a campaign does with columns."""

    where: Mapping[str, tuple[str, ...]] | None = None
    """What uses a column, such as `payload.json:1:20` or `expiration`; None if the command does not say it."""
    warnings: tuple[str, ...] = field(default=())

    def uses(self, column: str) -> bool:
        return self.where is None or column in self.where

    def place(self, column: str) -> str:
        """Where the campaign names the column, for a message."""
        places = (self.where or {}).get(column, ())
        return f" (used by {', '.join(places)})" if places else ""

    def fit(self, unfit: Mapping[str, str]) -> frozenset[str]:
        """Returns the columns to leave out: those that no row can have and nobody needs.

        :param unfit: Columns whose type no row can have, and what was expected and found.
        :raises ConfigurationError: The campaign uses one of them, or may do so.
        """
        faults = [
            f"column {name}: {fault}{self.place(name)}" for name, fault in unfit.items() if self.uses(name)
        ]
        if faults:
            raise ConfigurationError("\n".join(faults))
        return frozenset(unfit)


def check_schema(binary: str, campaign: Campaign, columns: Sequence[str]) -> Needs:
    """Compares the columns of the rows with the campaign.

    :raises ConfigurationError: The campaign is wrong, or it names a column that the rows do not have.
    """
    with tempfile.TemporaryDirectory(prefix="apns-batch-") as scratch:
        return schema_of_copy(binary, campaign, columns, pathlib.Path(scratch) / "campaign")


def schema_of_copy(binary: str, campaign: Campaign, columns: Sequence[str], copy: pathlib.Path) -> Needs:
    """As check_schema, and leaves the copy of the campaign in the directory `copy`."""
    command = [binary, "copy-campaign", campaign.path, str(copy), *campaign.flags()]
    if not knows_columns(binary):
        demand(command)
        # A row without values does not show whether paths lead somewhere; the command asks the first rows of each part.
        return Needs() if _sources(copy) else _by_sample(binary, copy, columns)
    said = json.loads(demand(command + [f"--columns={name}" for name in columns]))
    sources = _sources(copy)
    needs: dict[str, tuple[str, ...]] | None = None
    if "needs" in said:
        needs = {}
        for need in said["needs"]:
            places = [need["where"]] if "where" in need else need.get("uses", [])
            # What the campaign calls otherwise is needed under the name that the rows have.
            for column in {need["column"], sources.get(need["column"], need["column"])}:
                needs[column] = (*needs.get(column, ()), *places)
    return Needs(needs, tuple(said.get("warnings", ())))


def _sources(copy: pathlib.Path) -> dict[str, str]:
    """The columns of rows that the campaign has other names for (`columns`), by these names.

    Raises ConfigurationError if the token is among them: the parts of a run are made by the column `token`.
    """
    settings = json.loads((copy / "campaign.yaml").read_text(encoding="utf-8"))
    renamed: dict[str, str] = settings.get("columns") or {}
    if TOKEN in renamed:
        raise ConfigurationError(
            f'columns: expected rows that have "{TOKEN}" under its own name; rename "{renamed[TOKEN]}" of the rows'
        )
    # The first key of a path, in which a backslash is before a dot that is none.
    return {name: re.sub(r"(?<!\\)\..*", "", path).replace("\\.", ".") for name, path in renamed.items()}


@functools.cache
def knows_columns(binary: str) -> bool:
    """Whether `copy-campaign` of this command compares columns itself."""
    return "--columns" in ask([binary, "copy-campaign", "--help"]).stdout


def _by_sample(binary: str, copy: pathlib.Path, columns: Sequence[str]) -> Needs:
    """Lets `check` judge a row that has all columns and no values."""
    sample = copy.parent / "columns.ndjson"
    sample.write_text(json.dumps(dict.fromkeys(columns)) + "\n", encoding="utf-8")
    done = ask(
        [
            *(binary, "check", str(copy / "campaign.yaml"), "--input", str(sample), "--format", "ndjson"),
            *("--findings", str(copy.parent / "columns.csv")),
        ]
    )
    if done.returncode == _USAGE:
        raise ConfigurationError(said_wrong(done.stderr).replace(f"{copy}/", "").replace(f"{sample}:", ""))
    lines = (line.partition(": warning: ") for line in done.stdout.splitlines())
    return Needs(None, tuple(text for _, found, text in lines if found and text.startswith("column ")))
