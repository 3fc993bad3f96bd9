"""Says what would become of rows, without sending them."""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import os
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ._altered import plain
from ._campaign import Campaign, Request, fresh_copy, refuse_credentials, refuse_late
from ._command import ask, find_binary, said_wrong
from ._errors import ConfigurationError
from ._needs import Needs
from ._results import UNREADABLE
from ._rows import Line, rows_of

_USAGE = 64
# As many characters of a token as the command shows in its messages.
_TOKEN_SHOWN = 8


@dataclass(frozen=True)
class Finding:
    """What a rule says of a row."""

    row: int
    """Its number among the rows that were looked at, from 1."""
    token: str
    """Its device token, of which the first 8 characters are shown; empty if it has none."""
    is_error: bool
    """Whether the row would not be sent."""
    rule: str
    """The rule, as docs/reference/rules.md names it; `row-value` for a value that cannot be written."""
    message: str

    def __str__(self) -> str:
        kind = "error" if self.is_error else "warning"
        return f"row {self.row}, token {self.token or 'missing'}: {kind}: {self.message} [{self.rule}]"


def shortened(token: str) -> str:
    """A device token as the command shows it in its messages."""
    return token if len(token) <= _TOKEN_SHOWN else f"{token[:_TOKEN_SHOWN]}..."


@dataclass(frozen=True)
class Notification:
    """What a row would be."""

    row: int
    path: str
    headers: Mapping[str, str]
    payload: str
    """The JSON that the device would get."""


@dataclass(frozen=True)
class Check:
    """What a campaign and rows are like. Nothing was sent. Its text has all of it but the notifications."""

    rows: int = 0
    """The rows that were looked at: the first ones."""
    faults: tuple[str, ...] = ()
    """Why nothing would be sent at all: of the campaign, its template or the columns."""
    warnings: tuple[str, ...] = ()
    """What is odd about the campaign or the columns, such as a column that nothing uses."""
    findings: tuple[Finding, ...] = ()
    """What is wrong or odd about rows, in their order."""
    notifications: tuple[Notification, ...] = field(default=())
    """What the first rows would be that are not invalid."""
    has_more: bool = False
    """Whether there are rows that were not looked at."""

    def __str__(self) -> str:
        faults = (f"error: {fault}" for fault in self.faults)
        warnings = (f"warning: {warning}" for warning in self.warnings)
        return "\n".join([self._extent, *faults, *warnings, *map(str, self.findings)])

    @property
    def _extent(self) -> str:
        """Which rows were looked at."""
        if self.rows == 0:
            return "no rows were looked at"
        return f"{'the first' if self.has_more else 'all'} {self.rows:,} rows were looked at"

    @property
    def invalid(self) -> tuple[Finding, ...]:
        """The errors of rows. Each such row would end as invalid, and spoil no other."""
        return tuple(finding for finding in self.findings if finding.is_error)

    @property
    def is_ok(self) -> bool:
        """Whether every row that was looked at would be sent."""
        return not self.faults and not self.invalid


def check(
    rows: Any,
    *,
    campaign: str | os.PathLike[str],
    settings: Mapping[str, object] | None = None,
    sample: int = 1000,
    notifications: int = 5,
) -> Check:
    """Says what is wrong with a campaign and the columns of rows, and what the first rows would be. Nothing is sent, and nothing is left behind.

    :param rows: As for :func:`run`. Of an iterator, the first rows are taken; a frame is not changed.
    :param campaign: The campaign file.
    :param settings: Settings that replace those of the campaign file, by their keys in it.
    :param sample: The rows to look at, which are the first 1,000 by default; none for the campaign and the columns alone.
    :param notifications: The rows to show as they would be sent.
    :raises ConfigurationError: The command is missing. What is wrong with campaign or rows is in what is returned.
    """
    try:
        given = rows_of(rows)
        columns = given.columns
    except ConfigurationError as error:
        return Check(faults=(str(error),))

    def first(needs: Needs, count: int) -> Iterable[Line]:
        return itertools.islice(given.fit(needs).lines(), count)

    return checked(columns, first, Campaign.of(campaign, settings), sample, notifications)


def checked(
    columns: Sequence[str],
    first_lines: Callable[[Needs, int], Iterable[Line]],
    campaign: Campaign,
    sample: int,
    notifications: int,
) -> Check:
    """Compares columns with the campaign, and then looks at the first rows.

    :param first_lines: Gives the lines of some first rows. Raises ConfigurationError if a column does not fit what the campaign needs.
    """
    binary = find_binary()
    with contextlib.ExitStack() as stack:
        try:
            request = Request(None, tuple(columns))
            copied, copy = stack.enter_context(fresh_copy(binary, campaign, request))
            refuse_credentials(copied)
            refuse_late(copied)
            # One more tells whether there are more.
            lines = list(first_lines(copied.needs, sample and sample + 1))
        except ConfigurationError as error:
            return Check(faults=tuple(str(error).splitlines()))
        if sample == 0:
            return Check(warnings=copied.warnings)
        if not lines:
            return Check(faults=("there are no rows",), warnings=copied.warnings)
        found = _Sample(binary, copy / "campaign.yaml", lines[:sample]).check(copied.warnings, notifications)
        return replace(found, has_more=len(lines) > sample)


class _Sample:
    """Some rows in a file that only its owner can read, next to a copy of the campaign."""

    def __init__(self, binary: str, campaign: pathlib.Path, lines: Sequence[Line]) -> None:
        self._binary = binary
        self._campaign = campaign
        self._lines = lines
        self._path = campaign.parent.parent / "rows.ndjson"
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.writelines(line.text + "\n" for line in lines)

    def check(self, warnings: tuple[str, ...], notifications: int) -> Check:
        found = self._path.with_name("findings.csv")
        done = ask([*self._command("check"), "--findings", str(found)])
        if done.returncode == _USAGE and not found.exists():
            return Check(len(self._lines), tuple(said_wrong(done.stderr).splitlines()), warnings)
        findings, general = self._findings(found)
        faults = [] if done.returncode != _USAGE else said_wrong(done.stderr).splitlines()
        return Check(
            len(self._lines),
            tuple(line.replace(f"{self._path}:", "row ") for line in faults),
            tuple(dict.fromkeys([*warnings, *general])),
            findings,
            tuple(self._notifications(notifications)),
        )

    def _command(self, name: str) -> list[str]:
        return [self._binary, name, str(self._campaign), "--input", str(self._path), "--format", "ndjson"]

    def _findings(self, path: pathlib.Path) -> tuple[tuple[Finding, ...], list[str]]:
        """What is said of rows, and of the campaign and the columns as a whole."""
        found: list[Finding] = []
        general: list[str] = []
        with open(path, newline="", encoding="utf-8", errors="replace") as file:
            for line in csv.DictReader(file):
                rule, message = line["rule"], plain(line["message"])
                if line["row"]:
                    found.append(self._finding(int(line["row"]), line["severity"], rule, message))
                else:
                    general.append(f"{message} [{rule}]")
        return tuple(sorted(found, key=lambda finding: finding.row)), general

    def _finding(self, row: int, severity: str, rule: str, message: str) -> Finding:
        line = self._lines[row - 1]
        token = shortened(line.token or "")
        if line.reason is not None and UNREADABLE.endswith(message):
            return Finding(row, token, True, "row-value", line.reason)
        return Finding(row, token, severity == "error", rule, message)

    def _notifications(self, count: int) -> Iterable[Notification]:
        """The first rows that would be sent."""
        if count <= 0:
            return
        # Its exit code speaks of the invalid rows, which are findings already.
        said = ask([*self._command("render"), "--json", "--rows", "0"]).stdout
        shown = (json.loads(line) for line in said.splitlines())
        for each in itertools.islice((each for each in shown if "invalid" not in each), count):
            yield Notification(each["row"], each["path"], each["headers"], each["payload"])
