"""The rows of a program as lines of NDJSON."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ._errors import ConfigurationError
from ._frames import Frame, frame_of
from ._names import near_name
from ._needs import Needs
from ._schema import Schema
from ._values import TOKEN, UnfitValueError, field_text, fixed_members, is_unicode, quoted, unfit

__all__ = ["TOKEN", "Line", "Rows", "frozen_lines", "rows_of"]

# As many rows as the command judges an input by.
_FIRST_ROWS = 1000
# Values that JSON has itself, as texts or as whole numbers. Texts are looked at when the line is complete.
_PLAIN = frozenset({str, int, bool, type(None)})
# How JSON has a NUL. A text may have these characters, too.
_NUL = "\\u0000"
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode

#: Between the token of a row that cannot be sent and the reason, which does not have it.
REASON = " ! "
_REASON_LENGTH = 500
#: The end of a line that no reader takes for JSON, so that the command can only say that the row is invalid. It begins no key, which the command
#: would take for the name of a column.
UNREADABLE_END = ",!}"


@dataclass(frozen=True)
class Line:
    """A row as it is frozen. A row with a reason cannot be sent: its line is no JSON, and its token is followed by the reason.

    So the row has a line in the results like any other, with its columns and the reason (`_results.py`).
    """

    token: str
    text: str
    reason: str | None = None


class Rows:
    """Rows of a program, of which the first ones are looked at before the others."""

    def __init__(self, rows: Iterable[Any] | Frame) -> None:
        self._frame = rows if isinstance(rows, Frame) else None
        self._rows: Iterator[Any] = iter(()) if isinstance(rows, Frame) else iter(rows)
        self._first: list[dict[str, Any]] = []
        self._schema: Schema | None = None
        self._needs = Needs()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names that the first rows have. Raises ConfigurationError if these are no rows, or have no tokens."""
        names = self.schema.names
        if names and TOKEN not in names:
            raise ConfigurationError(f"rows: {missing_token(names)}")
        return names

    @property
    def schema(self) -> Schema:
        """What is compared with the rows of another call. Raises ConfigurationError if the first rows are none."""
        if self._schema is None:
            self._schema = self._look() if self._frame is None else self._frame.schema
        return self._schema

    def _look(self) -> Schema:
        numbered = enumerate(itertools.islice(self._rows, _FIRST_ROWS), 1)
        self._first = [_kept(_row(row, number)) for number, row in numbered]
        counts = Counter(key for row in self._first for key in row if _is_name(key))
        optional = tuple(name for name, count in counts.items() if count < len(self._first))
        return Schema({name: "" for name in counts if name not in optional}, optional)

    def fit(self, needs: Needs) -> Rows:
        """Leaves out the columns that are not used. Raises ConfigurationError if a column has a type that its use cannot have."""
        if self._frame is not None:
            needs.fit(self._frame.unfit)
        self._needs = needs
        return self

    def lines(self) -> Iterator[Line]:
        """Yields the line of each row, once.

        Each part is judged by its first rows, so every row gets the used keys that one of the first rows has, with null: a part with few
        rows may have none that has them all.
        """
        if self._frame is not None:
            yield from map(_line, self._frame.rows(self._needs))
            return
        keys, uses = dict.fromkeys(self._needs.used(self.columns)), self._needs.uses
        first, self._first = self._first, []
        later = (_row(row, number) for number, row in enumerate(self._rows, len(first) + 1))
        for row in itertools.chain(first, later):
            is_whole = keys.keys() == row.keys()
            yield _line(
                row if is_whole else {**keys, **{key: value for key, value in row.items() if uses(key)}}
            )


def rows_of(rows: Any) -> Rows:
    """Returns the rows of an iterable or of a frame of pandas, polars or Arrow. Raises ConfigurationError if it has none."""
    if isinstance(rows, Rows):
        return rows
    frame = frame_of(rows)
    if frame is not None:
        return Rows(frame)
    kind = type(rows).__name__
    if isinstance(rows, Mapping | str | bytes) or not isinstance(rows, Iterable):
        raise ConfigurationError(f"rows: expected an iterable of rows or a frame, found a {kind}")
    return Rows(cast("Iterable[object]", rows))


def frozen_lines(rows: Any) -> Iterator[tuple[str, str]]:
    """Yields the token and the line of each row."""
    for line in rows_of(rows).lines():
        yield line.token, line.text


def missing_token(columns: Sequence[str]) -> str:
    """The fault of rows that have no tokens, with the column that may hold them."""
    near = near_name(TOKEN, columns) or next((name for name in columns if TOKEN in name.lower()), None)
    hint = f'; did you mean "{near}"? Rename it' if near is not None else ""
    return f'no column "{TOKEN}"; there are {", ".join(columns)}{hint}'


def _row(row: Any, number: int) -> dict[str, Any]:
    if isinstance(row, dict):
        # As it is, since this is done for each row; its keys are looked at with its line.
        return row  # pyright: ignore[reportUnknownVariableType]
    if isinstance(row, Mapping):
        return dict(cast("Mapping[str, Any]", row).items())
    members = fixed_members(row)
    if members is None:
        raise ConfigurationError(
            f"row {number}: expected a mapping, a dataclass or a named tuple, found a {type(row).__name__}"
        )
    return dict(members)


def _kept(row: dict[str, Any]) -> dict[str, Any]:
    """A row that is written later than the next one is asked for: a source may use its object, and what is in it, for that one."""
    return {name: value if type(value) in _PLAIN else _copy(value) for name, value in row.items()}


def _copy(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:
        # What cannot be copied is no value of a row, or does not change.
        return value


def _line(row: Mapping[str, Any]) -> Line:
    token = row.get(TOKEN)
    if type(token) is str and _is_plain(row.values()) and all(map(_is_text, row)):
        try:
            text = _encode(row)
            if not text.isascii():
                text.encode("utf-8")
            if _NUL not in text:
                return Line(token, text)
        except ValueError:
            pass  # which value it is, the longer way finds out
    return _converted(row)


def _is_plain(values: Collection[Any]) -> bool:
    """Whether JSON has all these values as they are. Whole floats lose their fraction; what is not finite is no JSON."""
    kinds = set(map(type, values))
    if float in kinds:
        kinds.discard(float)
        return kinds <= _PLAIN and all(value % 1 for value in values if type(value) is float)
    return kinds <= _PLAIN


def _is_name(key: object) -> bool:
    """Whether a key can be the name of a column. A row with another one is invalid."""
    return isinstance(key, str) and (key.isascii() or is_unicode(key)) and "\0" not in key


def told_reason(text: str) -> str:
    """A reason without what separates it from the token before it, which may have anything."""
    return re.sub("! +", "!", text)


def _is_text(name: object) -> bool:
    return isinstance(name, str)


def _converted(row: Mapping[Any, Any]) -> Line:
    fields: dict[str, str] = {}
    reason: str | None = None
    for name, value in row.items():
        try:
            if not isinstance(name, str):
                raise unfit("row", "texts as keys", repr(name)[:80])
            fields[quoted(name, ascii(name))] = field_text(value, name)
        except UnfitValueError as error:
            reason = reason or str(error)
        except RecursionError:
            reason = reason or f"{name}: expected a value of JSON, found one that contains itself"
    token_key = f'"{TOKEN}"'
    token = json.loads(fields.get(token_key, "null")) or ""
    if reason is None:
        return Line(token, "{" + ",".join(f"{name}:{text}" for name, text in fields.items()) + "}")
    fields.pop(token_key, None)
    reason = told_reason(reason.encode("utf-8", "backslashreplace").decode("utf-8"))[:_REASON_LENGTH]
    marked = {token_key: quoted(f"{token}{REASON}{reason}", TOKEN), **fields}
    return Line(
        token, "{" + ",".join(f"{name}:{text}" for name, text in marked.items()) + UNREADABLE_END, reason
    )
