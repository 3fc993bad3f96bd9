"""The results of all parts: one for each row."""

from __future__ import annotations

import csv
import io
import os
import pathlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from enum import Enum
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from ._altered import plain
from ._errors import ConfigurationError, DriverGoneError, StorageError
from ._layout import RunLayout
from ._manifest import Manifest, Part
from ._rows import REASON
from ._storage import confirm_driver

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

FIXED_COLUMNS: tuple[str, ...] = (
    "row",
    "token",
    "outcome",
    "status",
    "reason",
    "timestamp",
    "apns_id",
    "attempts",
    "apns_unique_id",
)
#: The end of what the command says of a line that holds a reason in its token (`_rows.Line`).
UNREADABLE = ": expected a key in quotes"
#: Before the name of a result column that a frame of results has already.
PREFIX = "column_"

_HEX = re.compile("[0-9A-Fa-f]+")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_READ_BYTES = 1 << 20
# What was read last, by which a file is known that was cut off and has grown again.
_TAIL_BYTES = 4096
_POLL_SECONDS = 0.2
# How long a run is waited for that is to be followed and has not begun.
_BEGIN_SECONDS = 60.0


class Outcome(str, Enum):
    """What became of a row. Each is a text, too."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    UNAVAILABLE = "unavailable"
    INVALID = "invalid"
    UNKNOWN = "unknown"
    EXPIRED = "expired"
    SUPPRESSED = "suppressed"

    __str__ = str.__str__


_OUTCOMES = frozenset(each.value for each in Outcome)


@dataclass(frozen=True)
class Result:
    """What became of a row."""

    part: int
    """The number of its part, from 0."""
    row: int
    """Its number in the part, from 1."""
    token: str
    """In lower case if it is hex digits, and else as the row has it."""
    outcome: Outcome
    status: int | None
    """The status of the last answer."""
    reason: str | None
    """The reason that APNs gave, or why the row is invalid."""
    timestamp: datetime | None
    """Since when the token is invalid, as APNs says with status 410; in UTC."""
    apns_id: UUID | None
    attempts: int
    """The number of requests."""
    apns_unique_id: str | None
    columns: Mapping[str, str]
    """The columns of `result_columns`, as texts."""


class Results:
    """The results of a run in parts, which may still be sent. Each iteration reads them anew."""

    def __init__(self, layout: RunLayout, follow: bool = False) -> None:
        self._layout = layout
        self._follow = follow

    def __iter__(self) -> Iterator[Result]:
        yield from _followed(self._layout) if self._follow else _present(self._layout)

    def to_pandas(self) -> pd.DataFrame:
        """A frame of pandas, with nullable types."""
        import pandas as pd  # noqa: PLC0415

        kinds = {"status": "Int32", "attempts": "int32", "row": "int64", "part": "int32"}
        columns = _by_column(self)
        frame: Any = pd.DataFrame(columns)
        for name in columns:
            frame[name] = (
                frame[name].astype(kinds.get(name, "string"))
                if name != "timestamp"
                else pd.to_datetime(frame[name], utc=True)
            )
        return frame

    def to_polars(self) -> pl.DataFrame:
        """A frame of polars."""
        import polars as pl  # noqa: PLC0415

        kinds: dict[str, Any] = {
            **{"part": pl.Int32, "row": pl.Int64, "status": pl.Int32, "attempts": pl.Int32},
            "timestamp": pl.Datetime("ms", "UTC"),
        }
        columns = _by_column(self)
        return pl.DataFrame(columns, schema={name: kinds.get(name, pl.String) for name in columns})

    # pyarrow has no types of its own.
    def to_arrow(self) -> pa.Table:  # pyright: ignore[reportUnknownParameterType]
        """A table of Arrow."""
        import pyarrow  # noqa: PLC0415

        pa = cast(Any, pyarrow)
        kinds: dict[str, Any] = {
            **{"part": pa.int32(), "row": pa.int64(), "status": pa.int32(), "attempts": pa.int32()},
            "timestamp": pa.timestamp("ms", "UTC"),
        }
        columns = _by_column(self)
        return pa.table(
            [pa.array(columns[name], kinds.get(name, pa.string())) for name in columns],
            schema=pa.schema([(name, kinds.get(name, pa.string())) for name in columns]),
        )


def results(run_dir: str | os.PathLike[str], follow: bool = False) -> Results:
    """The results of a run in parts that this or another program sends or has sent. To read them sends nothing.

    :param run_dir: The directory of the run.
    :param follow: Whether to wait for further results, as long as the run is sent; and for a minute, when they are read, for a run to begin.
    :raises ConfigurationError: The directory holds no run in parts. To read raises StorageError if a file of the run is damaged.
    """
    layout = RunLayout.of(run_dir)
    if not follow:
        Manifest.read(layout)
    return Results(layout, follow)


def _by_column(found: Iterator[Result] | Results) -> dict[str, list[Any]]:
    """The results as columns, those of `result_columns` under the names of `frame_names`."""
    columns: dict[str, list[Any]] = {name: [] for name in ("part", *FIXED_COLUMNS)}
    more: dict[str, list[Any]] = {}
    for count, result in enumerate(found):
        for name in FIXED_COLUMNS:
            columns[name].append(_cell(getattr(result, name)))
        columns["part"].append(result.part)
        for name, text in result.columns.items():
            more.setdefault(name, [None] * count).append(_cell(text))
    names = frame_names(list(more))
    return {**columns, **{name: more[given] for given, name in zip(more, names, strict=True)}}


def _cell(value: Any) -> Any:
    """A value as frames have it. Bytes that are no character are U+FFFD, because no frame can hold them."""
    if isinstance(value, UUID | Outcome):
        return str(value)
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return value


def frame_names(given: list[str]) -> list[str]:
    """The names of result columns in a frame: as they are, or with `column_` in front where the frame has that name already.

    Upper and lower case make no difference, because they make none to Spark.
    """
    taken = {"part", *FIXED_COLUMNS}
    names: list[str] = []
    for name in given:
        unique = name
        while unique.lower() in taken:
            unique = PREFIX + unique
        taken.add(unique.lower())
        names.append(unique)
    return names


def results_of(layout: RunLayout, part: int) -> pathlib.Path:
    return layout.part(part) / "results.csv"


def part_lines(layout: RunLayout, part: int) -> Iterator[dict[str, str]]:
    """Reads the lines of a part, their texts as they were; none if it was not begun. A line that was cut off is none.

    :raises StorageError: The file is damaged.
    """
    path = results_of(layout, part)
    if not path.exists():
        return
    names: tuple[str, ...] | None = None
    with open(path, newline="", encoding="utf-8", errors="surrogateescape") as file:
        for fields in csv.reader(line for line in file if line.endswith("\n")):
            if names is None:
                names = _names_of(fields, path)
            else:
                yield _line_of(names, fields, path)


def header_of(path: pathlib.Path) -> tuple[str, ...] | None:
    """The names of the columns of a file of results; None if it does not exist, or if its first line is not complete, as is so for a moment.

    :raises StorageError: The file is damaged.
    """
    try:
        with open(path, newline="\n", encoding="utf-8", errors="surrogateescape") as file:
            line = file.readline()
    except FileNotFoundError:
        return None
    return _names_of(next(csv.reader([line])), path) if line.endswith("\n") else None


def _names_of(fields: Sequence[str], path: pathlib.Path) -> tuple[str, ...]:
    names = tuple(map(plain, fields))
    if names[: len(FIXED_COLUMNS)] != FIXED_COLUMNS:
        raise StorageError(
            f"{path}: its first line does not name the columns of results; the file is damaged"
        )
    return names


def _line_of(names: Sequence[str], fields: Sequence[str], path: pathlib.Path) -> dict[str, str]:
    if len(names) != len(fields) or not fields[0].isdecimal() or fields[2] not in _OUTCOMES:
        raise StorageError(f"{path}: one of its lines is none of a result; the file is damaged")
    return dict(zip(names, map(plain, fields), strict=True))


def _present(layout: RunLayout) -> Iterator[Result]:
    for part in Manifest.read(layout).parts:
        yield from PartReader(layout, part).read()


def _followed(layout: RunLayout) -> Iterator[Result]:
    """Yields results until each row has one, or until nobody sends the run any more and all are read."""
    deadline = time.monotonic() + _BEGIN_SECONDS
    while not layout.manifest.exists():
        if not _is_sent(layout) and time.monotonic() > deadline:
            raise ConfigurationError(
                f"{layout.root}: there is no run in parts, and none was begun within {_BEGIN_SECONDS:.0f} seconds"
            )
        time.sleep(_POLL_SECONDS)
    readers = [PartReader(layout, part) for part in Manifest.read(layout).parts]
    while readers:
        is_sent = _is_sent(layout)
        for reader in readers:
            yield from reader.read()
        readers = [reader for reader in readers if reader.left]
        if not is_sent:
            return
        time.sleep(_POLL_SECONDS)


def _is_sent(layout: RunLayout) -> bool:
    try:
        confirm_driver(layout.lock)
    except (DriverGoneError, StorageError):
        return False
    return True


class PartReader:
    """Reads the results of a part while lines are appended. A line that is not complete is left for the next time."""

    def __init__(self, layout: RunLayout, part: Part) -> None:
        self._part = part
        self._path = results_of(layout, part.part)
        self._seen = bytearray(part.rows + 1)
        self._names: tuple[str, ...] = ()
        self.left = part.rows
        """Rows whose results were not read yet."""
        self._restart()

    def _restart(self) -> None:
        self._offset = 0
        self._rest = b""
        self._tail = b""
        self._names = ()

    def read(self) -> Iterator[Result]:
        """Yields the results that have come since the last time."""
        if not self._path.exists():
            return
        with open(self._path, "rb") as file:
            file.seek(self._offset - len(self._tail))
            if file.read(len(self._tail)) != self._tail:
                # A sender that goes on after its end cuts off what is not in its ledger, and may have written more since then.
                # Rows that were read are known.
                self._restart()
            file.seek(self._offset)
            while block := file.read(_READ_BYTES):
                self._offset += len(block)
                self._tail = (self._tail + block)[-_TAIL_BYTES:]
                for line in self._complete(block):
                    yield from self._result(line)

    def _complete(self, block: bytes) -> Iterator[list[str]]:
        """The lines that are complete with these bytes. A line feed within quotes ends none."""
        data = self._rest + block
        end = data.rfind(b"\n") + 1
        while end and data.count(b'"', 0, end) % 2:
            end = data.rfind(b"\n", 0, end - 1) + 1
        self._rest = data[end:]
        text = data[:end].decode("utf-8", "surrogateescape")
        yield from csv.reader(io.StringIO(text, newline=""))

    def _result(self, line: list[str]) -> Iterator[Result]:
        if not self._names:
            self._names = _names_of(line, self._path)
            return
        result = result_of(self._part.part, _line_of(self._names, line, self._path))
        if 0 < result.row <= self._part.rows and self._seen[result.row]:
            return
        if 0 < result.row <= self._part.rows:
            self._seen[result.row] = 1
            self.left -= 1
        yield result


def result_of(part: int, line: Mapping[str, str]) -> Result:
    """The result of a line."""
    token, reason = line["token"], line["reason"] or None
    if line["outcome"] == Outcome.INVALID and reason is not None and reason.endswith(UNREADABLE):
        # The token may have anything, and the reason does not have what is between both.
        before, found, after = token.rpartition(REASON)
        if found:
            token, reason = before, after
    if _HEX.fullmatch(token):
        # The command writes the token of an invalid row as the row has it.
        token = token.lower()
    return Result(
        part=part,
        row=int(line["row"]),
        token=token,
        outcome=Outcome(line["outcome"]),
        status=int(line["status"]) if line["status"] else None,
        reason=reason,
        timestamp=_EPOCH + timedelta(milliseconds=int(line["timestamp"])) if line["timestamp"] else None,
        apns_id=UUID(line["apns_id"]) if line["apns_id"] else None,
        attempts=int(line["attempts"] or 0),
        apns_unique_id=line["apns_unique_id"] or None,
        columns={name: text for name, text in line.items() if name not in FIXED_COLUMNS},
    )
