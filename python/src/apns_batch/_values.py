"""Values of Python as JSON: the one table of conversions, which docs/integrate/values.md shows.

A value of a column ends as a text, whether JSON has it with quotes or without; within `payload` it keeps its type. Packages that are not
loaded have no values here, so that none is imported.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from json.encoder import encode_basestring
from typing import Any, cast
from uuid import UUID

TOKEN = "token"  # noqa: S105, a column
# As deep as the command reads a line; the row itself is the first object.
_DEPTH = 62
# Up to here every whole number is a float of its own.
_WHOLE = 2.0**53
# Decimals with more places than a payload has bytes are a fault of their source.
_PLACES = 5000


class UnfitValueError(Exception):
    """A value that a row cannot have. The text names the column and says what was expected."""


def unfit(place: str, expected: str, found: str) -> UnfitValueError:
    return UnfitValueError(f"{place}: expected {expected}, found {found}")


def field_text(value: Any, column: str) -> str:
    """Returns the JSON of a row's value. Raises UnfitValueError."""
    if isinstance(value, Enum):
        value = value.value
    if column == TOKEN:
        value = _token(value)
    text = value_text(value, column)
    if text.endswith(".0") and _is_float(value) and abs(float(text)) < _WHOLE:
        # Packages make floats of whole numbers where some are missing.
        return str(int(float(text)))
    return text


def _is_float(value: Any) -> bool:
    return isinstance(value, float) or (_package_of(value) == "numpy" and value.dtype.kind == "f")


def is_missing(value: object) -> bool:
    """Whether it is None, or what pandas and numpy have instead."""
    if value is None:
        return True
    kind = type(value)
    if kind.__name__ in {"NaTType", "NAType"} and kind.__module__.startswith("pandas."):
        return True
    return kind.__name__ in {"datetime64", "timedelta64"} and str(value) == "NaT"


def value_text(value: Any, place: str, depth: int = 0) -> str:
    """Returns the JSON of a value at a place such as `payload.aps.badge`. Raises UnfitValueError."""
    if depth > _DEPTH:
        raise unfit(place.split(".", 1)[0], "objects and arrays at most 63 deep", "deeper ones")
    if is_missing(value):
        return "null"
    scalar = _scalar_text(value, place)
    if scalar is not None:
        return scalar
    members = members_of(value)
    if members is not None:
        return "{" + ",".join(_members(members, place, depth)) + "}"
    elements = _elements_of(value)
    if elements is not None:
        texts = (value_text(each, f"{place}.{number}", depth + 1) for number, each in enumerate(elements))
        return "[" + ",".join(texts) + "]"
    raise unfit(place, "a value of JSON", f"a {_name_of(value)}")


def members_of(value: Any) -> Iterable[tuple[Any, Any]] | None:
    """The members of a mapping, a dataclass, a named tuple or a Row of Spark; None if it is none of these.

    What has a fixed set of members leaves out those without a value. A mapping has those that it was given.
    """
    if isinstance(value, Mapping):
        return cast("Mapping[object, Any]", value).items()
    fixed = fixed_members(value)
    return None if fixed is None else (member for member in fixed if not is_missing(member[1]))


def fixed_members(value: Any) -> Iterable[tuple[str, Any]] | None:
    """All members of a dataclass, a named tuple or a Row of Spark; None if it is none of these."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, tuple):
        values = cast("Sequence[Any]", value)
        names = getattr(values, "_fields", None) or getattr(values, "__fields__", None)
        if names:
            return zip(names, values, strict=False)
    return None


def _members(members: Iterable[tuple[Any, Any]], place: str, depth: int) -> Iterator[str]:
    for name, member in members:
        if isinstance(name, Enum):
            name = name.value  # noqa: PLW2901
        if not isinstance(name, str):
            raise unfit(place, "texts as keys", repr(name)[:80])
        yield f"{quoted(name, place)}:{value_text(member, f'{place}.{name}', depth + 1)}"


def _elements_of(value: Any) -> Iterable[Any] | None:
    if isinstance(value, list | tuple):
        return cast("Iterable[Any]", value)
    # Arrays and series within a cell. Their own lists would make numbers of the times of numpy.
    is_series = hasattr(value, "tolist") or hasattr(value, "to_list")
    return list(value) if is_series and _package_of(value) in {"numpy", "pandas", "polars"} else None


def _scalar_text(value: Any, place: str) -> str | None:
    """The JSON of what is no object and no array; None for these."""
    for kind, write in _SCALARS:
        if isinstance(value, kind):
            return write(value, place)
    if _package_of(value) == "numpy" and getattr(value, "ndim", None) == 0:
        return _numpy(value, place)
    if _package_of(value) == "pyarrow" and hasattr(value, "as_py"):
        return value_text(value.as_py(), place)
    return None


def quoted(text: str, place: str) -> str:
    """A text with the quotes and escapes of JSON. Raises UnfitValueError if it is no text of Unicode, or has a NUL."""
    if "\0" in text:
        raise unfit(place, "a text", f"a NUL at character {text.index(chr(0)) + 1}")
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise unfit(place, "a text", f"half of a surrogate pair at character {error.start + 1}") from None
    return encode_basestring(text)


def is_unicode(text: str) -> bool:
    """Whether a text has no half of a surrogate pair."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _token(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(cast(Any, value)).hex()
    if is_missing(value) or isinstance(value, str):
        return value
    raise unfit(TOKEN, "hex digits in a text, or bytes", f"a {_name_of(value)}")


def _integer(value: int, place: str) -> str:
    try:
        return str(int(value))
    except ValueError:
        # Python writes no numbers with more than some thousand digits.
        raise unfit(place, "a number of fewer digits", "more than 4,000") from None


def _float(value: float, place: str) -> str:
    if not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "infinity" if value > 0 else "-infinity"
        raise unfit(place, "a finite number", name)
    return repr(float(value))


def _decimal(value: Decimal, place: str) -> str:
    if not value.is_finite():
        raise unfit(place, "a finite number", "NaN" if value.is_nan() else f"{value}".lower())
    exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and abs(exponent) > _PLACES:
        raise unfit(place, f"a number of at most {_PLACES:,} places", str(value)[:80])
    return f"{value:f}"


def _datetime(value: datetime, place: str) -> str:
    if value.utcoffset() is None:
        raise unfit(place, "a time with its zone", f"{value.isoformat(' ')}, which has none")
    try:
        moment = value.astimezone(timezone.utc)
    except OverflowError:
        raise unfit(place, "a time of the years 1 to 9999", value.isoformat(" ")) from None
    fraction = f".{moment.microsecond:06}" if moment.microsecond else ""
    return f'"{moment.year:04}-{moment:%m-%dT%H:%M:%S}{fraction}Z"'


def _time(value: time, place: str) -> str:
    if value.tzinfo is not None:
        raise unfit(place, "a time of day without a zone", value.isoformat())
    return f'"{value.isoformat()}"'


def _binary(value: bytes, place: str) -> str:
    raise unfit(place, f"bytes in {TOKEN} only", f"{len(value)} bytes; write them as a text")


def _interval(value: timedelta, place: str) -> str:
    raise unfit(place, "a time or a number of seconds", f"an interval ({value})")


def _numpy(value: Any, place: str) -> str:
    kind: str = value.dtype.kind
    if kind == "M":
        raise unfit(place, "a time with its zone", f"{value}, which has none")
    if kind == "m":
        raise unfit(place, "a time or a number of seconds", f"an interval ({value})")
    if kind == "f":
        # The shortest digits of its own width.
        return _float(float(str(value)), place)
    return value_text(value.item(), place)


#: Each kind of scalar and who writes it. The first one that fits counts: a bool is an int, and a datetime is a date.
_SCALARS: tuple[tuple[type | tuple[type, ...], Callable[[Any, str], str]], ...] = (
    (Enum, lambda value, place: value_text(value.value, place)),
    (str, lambda value, place: quoted(str.__str__(value), place)),
    (bool, lambda value, _: "true" if value else "false"),
    (int, _integer),
    (float, _float),
    (Decimal, _decimal),
    (datetime, _datetime),
    (date, lambda value, _: f'"{value.isoformat()}"'),
    (time, _time),
    (UUID, lambda value, _: f'"{value}"'),
    ((bytes, bytearray, memoryview), _binary),
    (timedelta, _interval),
)


def _package_of(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def _name_of(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
