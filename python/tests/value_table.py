"""The table of docs/integrate/values.md: kinds of values, how each source of rows writes them, and what arrives.

The tests run every cell through the command; scripts/values makes the page of it.
"""

from __future__ import annotations

import enum
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, NamedTuple

TOKEN = "00000001" * 8
BIG = 12345678901234567890123
BERLIN = timezone(timedelta(hours=1))
MOMENT = datetime(2036, 11, 29, 20, 0, 0, 500_000, BERLIN)
ID = uuid.UUID("0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f10")

SOURCES = ("CSV", "NDJSON", "Python", "pandas", "polars", "Arrow", "Spark")
#: What a column is used for, and how the page calls it.
USES = {
    "text": "text `{{v}}`, `collapse_id`, result column",
    "number": "`{{v:number}}`",
    "json": "`{{v:json}}`",
    "expiration": "`expiration`",
    "token": "`token`",
    "payload": "in `payload`",
}


@dataclass(frozen=True)
class Invalid:
    """The row ends as invalid, for a reason that has this text."""

    reason: str = ""


@dataclass(frozen=True)
class Refused:
    """The column is refused before a row is looked at."""

    reason: str


Arrives = str | Invalid | Refused


@dataclass(frozen=True)
class Point:
    x: int
    y: int | None


class Pair(NamedTuple):
    x: int
    y: int | None


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True)
class Kind:
    """A kind of value."""

    name: str
    text: Arrives
    payload: Arrives
    """As JSON; the empty text if the member is left out."""
    number: bool = False
    """Whether the text is a number of JSON."""
    is_json: bool = False
    """Whether the text is JSON."""
    expiration: str | None = None
    """The header that it becomes; None if the row is invalid."""
    token: str | None = None
    """The device token that it becomes; None if the row is invalid."""
    written: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    """By source: what the type is called there, and a value, as `rows_with` takes it."""
    differs: Mapping[str, Mapping[str, Arrives]] = field(default_factory=dict)
    """By source and use: what arrives otherwise."""

    def arrives(self, source: str, use: str) -> Arrives:
        other = self.differs.get(source, {})
        text = other.get("text", self.text)
        if use in other:
            return other[use]
        if use == "payload":
            return self.payload
        if use == "token":
            return self._token(source)
        return text if use == "text" else self._parsed(source, use, text)

    def _parsed(self, source: str, use: str, text: Arrives) -> Arrives:
        """What arrives where a text is read as a value of another type."""
        is_typed = source in ("polars", "Arrow", "Spark") and self.name in NO_TIMES
        if use == "expiration" and is_typed:
            return Refused(TIMES)
        if isinstance(text, Invalid | Refused):
            return text
        if use == "expiration":
            return Invalid() if self.expiration is None else self.expiration
        return text if {"number": self.number, "json": self.is_json}[use] else Invalid()

    def _token(self, source: str) -> Arrives:
        if self.token is not None:
            return self.token
        if source not in ("pandas", "polars", "Arrow", "Spark") or self.name in (
            "text",
            "half of a surrogate pair",
            "text with a NUL",
        ):
            return Invalid()
        # What is an object to pandas is looked at row by row.
        is_object = source == "pandas" and "object" in self.written[source][0]
        return Invalid() if is_object else Refused(TEXTS)


def _in_frames(reason: str) -> dict[str, dict[str, Arrives]]:
    """Frames have types, so that a column is refused as a whole."""
    refused: dict[str, Arrives] = {use: Refused(reason) for use in USES if use != "token"}
    return {source: {**refused} for source in ("polars", "Arrow", "Spark")}


#: Kinds whose types of frames no expiration can be.
NO_TIMES = frozenset(
    ("truth", "date", "time of day", "UUID", "list of one type", "mapping", "struct", "NaN within a value")
)
TIMES = "expected seconds since 1970 or times with their zone"
TEXTS = "expected texts or bytes"
ZONE = "expected a time with its zone"
INTERVAL = "expected a time or a number of seconds"
BYTES = "expected bytes in token only"
FINITE = "expected a finite number"

#: Makers of columns; the packages are loaded by who calls them.
Make = Callable[[Any], Any]


def pandas(dtype: str | None, *values: Any) -> Make:
    return lambda pd: pd.Series(list(values), dtype=dtype)


def polars(kind: Callable[[Any], Any], value: Any) -> Make:
    return lambda pl: pl.Series([value], dtype=kind(pl))


def arrow(kind: Callable[[Any], Any], value: Any) -> Make:
    return lambda pa: pa.array([value], kind(pa))


def _all(label: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    return {source: (label[source], values[source]) for source in values}


KINDS: tuple[Kind, ...] = (
    Kind(
        "text",
        "Zoë & Ann",
        '"Zoë & Ann"',
        written={
            "CSV": ("`Zoë & Ann`", "Zoë & Ann"),
            "NDJSON": ("string", '"Zoë & Ann"'),
            "Python": ("str", "Zoë & Ann"),
            "pandas": ("object, string, category", pandas("string", "Zoë & Ann")),
            "polars": ("String, Categorical, Enum", polars(lambda pl: pl.Categorical, "Zoë & Ann")),
            "Arrow": (
                "string, dictionary",
                arrow(lambda pa: pa.dictionary(pa.int8(), pa.string()), "Zoë & Ann"),
            ),
            "Spark": ("string, char, varchar", "'Zoë & Ann'"),
        },
    ),
    Kind(
        "device token",
        TOKEN,
        f'"{TOKEN}"',
        token=TOKEN,
        written={
            "CSV": ("hex digits", TOKEN),
            "NDJSON": ("string", f'"{TOKEN}"'),
            "Python": ("str", TOKEN),
            "pandas": ("object, string, category", pandas("category", TOKEN)),
            "polars": ("String", polars(lambda pl: pl.String, TOKEN)),
            "Arrow": ("string", arrow(lambda pa: pa.large_string(), TOKEN)),
            "Spark": ("string", f"'{TOKEN}'"),
        },
    ),
    Kind(
        "no value",
        "",
        "null",
        expiration="",
        written={
            "CSV": ("empty field", ""),
            "NDJSON": ("null, no such key", "null"),
            "Python": ("None, pandas.NA, NaT", None),
            "pandas": ("NA, NaN, NaT, None", pandas("Int64", None)),
            "polars": ("null", polars(lambda pl: pl.Int64, None)),
            "Arrow": ("null", arrow(lambda pa: pa.int64(), None)),
            "Spark": ("NULL", "cast(null as bigint)"),
        },
        # A member of a struct is always there, so that one without a value is left out.
        differs={
            "CSV": {"payload": "null"},
            **{source: {"payload": ""} for source in ("polars", "Arrow", "Spark")},
        },
    ),
    Kind(
        "truth",
        "true",
        "true",
        is_json=True,
        written={
            "CSV": ("`true`", "true"),
            "NDJSON": ("true", "true"),
            "Python": ("bool, numpy.bool_", True),
            "pandas": ("bool, boolean", pandas("boolean", True)),
            "polars": ("Boolean", polars(lambda pl: pl.Boolean, True)),
            "Arrow": ("bool", arrow(lambda pa: pa.bool_(), True)),
            "Spark": ("boolean", "true"),
        },
    ),
    Kind(
        "whole number",
        "2100000000",
        "2100000000",
        number=True,
        is_json=True,
        expiration="2100000000",
        written={
            "CSV": ("`2100000000`", "2100000000"),
            "NDJSON": ("number", "2100000000"),
            "Python": ("int, numpy.int64 …", 2100000000),
            "pandas": ("int64, Int64 …", pandas("int64", 2100000000)),
            "polars": ("Int8 … UInt64", polars(lambda pl: pl.Int64, 2100000000)),
            "Arrow": ("int8 … uint64", arrow(lambda pa: pa.int64(), 2100000000)),
            "Spark": ("tinyint … bigint", "2100000000L"),
        },
        # Digits of a number are hex digits, too.
        differs={"CSV": {"token": "2100000000"}, "NDJSON": {"token": "2100000000"}},
    ),
    Kind(
        "large whole number",
        str(BIG),
        str(BIG),
        number=True,
        is_json=True,
        written={
            "CSV": ("digits", str(BIG)),
            "NDJSON": ("number", str(BIG)),
            "Python": ("int", BIG),
            "pandas": ("object", pandas("object", BIG)),
            "polars": ("Decimal", polars(lambda pl: pl.Decimal(38, 0), BIG)),
            "Arrow": ("decimal128", arrow(lambda pa: pa.decimal128(38, 0), BIG)),
            "Spark": ("decimal(38,0)", f"cast('{BIG}' as decimal(38,0))"),
        },
    ),
    Kind(
        "floating point number",
        "0.25",
        "0.25",
        number=True,
        is_json=True,
        written={
            "CSV": ("`0.25`", "0.25"),
            "NDJSON": ("number", "0.25"),
            "Python": ("float, numpy.float64 …", 0.25),
            "pandas": ("float64 …", pandas("float64", 0.25)),
            "polars": ("Float64 …", polars(lambda pl: pl.Float64, 0.25)),
            "Arrow": ("double …", arrow(lambda pa: pa.float64(), 0.25)),
            "Spark": ("float, double", "cast(0.25 as double)"),
        },
    ),
    Kind(
        "the same, without a fraction",
        "2100000000",
        "2100000000.0",
        number=True,
        is_json=True,
        expiration="2100000000",
        written={
            "CSV": ("`2100000000.0`", "2100000000.0"),
            "NDJSON": ("number", "2100000000.0"),
            "Python": ("float", 2.1e9),
            "pandas": ("float64", pandas("float64", 2.1e9)),
            "polars": ("Float64", polars(lambda pl: pl.Float64, 2.1e9)),
            "Arrow": ("double", arrow(lambda pa: pa.float64(), 2.1e9)),
            "Spark": ("double", "cast(2100000000 as double)"),
        },
        differs={
            "Spark": {"payload": "2.1E9"},
            **{
                source: dict.fromkeys(("text", "number", "json", "payload"), "2100000000.0")
                for source in ("CSV", "NDJSON")
            },
        },
    ),
    Kind(
        "NaN, infinity",
        Invalid(FINITE),
        Invalid(FINITE),
        written={
            "CSV": ("`NaN`", "NaN"),
            "NDJSON": ("NaN", "NaN"),
            "Python": ("float", float("nan")),
            "pandas": ("float64", pandas("float64", float("nan"))),
            "polars": ("Float64", polars(lambda pl: pl.Float64, float("nan"))),
            "Arrow": ("double", arrow(lambda pa: pa.float64(), float("nan"))),
            "Spark": ("double", "double('NaN')"),
        },
        differs={
            "CSV": {"text": "NaN", "payload": Invalid()},
            "NDJSON": {use: Invalid("expected a JSON value") for use in USES},
            # pandas has no other mark for a number that is missing.
            "pandas": {
                **{
                    "text": "",
                    "number": Invalid("found an empty field"),
                    "json": Invalid("found an empty field"),
                },
                **{"expiration": "", "payload": Invalid(FINITE)},
            },
        },
    ),
    Kind(
        "decimal",
        "12.50",
        "12.50",
        number=True,
        is_json=True,
        written={
            "CSV": ("`12.50`", "12.50"),
            "NDJSON": ("number", "12.50"),
            "Python": ("Decimal", Decimal("12.50")),
            "pandas": ("object of Decimal", pandas("object", Decimal("12.50"))),
            "polars": ("Decimal", polars(lambda pl: pl.Decimal(10, 2), Decimal("12.50"))),
            "Arrow": ("decimal128, decimal256", arrow(lambda pa: pa.decimal128(10, 2), Decimal("12.50"))),
            "Spark": ("decimal", "cast('12.50' as decimal(10,2))"),
        },
    ),
    Kind(
        "small decimal",
        "-0.00000012",
        "-0.00000012",
        number=True,
        is_json=True,
        written={
            "CSV": ("all digits", "-0.00000012"),
            "NDJSON": ("all digits", "-0.00000012"),
            "Python": ("Decimal", Decimal("-1.2E-7")),
            "pandas": ("object of Decimal", pandas("object", Decimal("-1.2E-7"))),
            "polars": ("Decimal", polars(lambda pl: pl.Decimal(20, 8), Decimal("-1.2E-7"))),
            "Arrow": ("decimal128", arrow(lambda pa: pa.decimal128(20, 8), Decimal("-0.00000012"))),
            "Spark": ("decimal", "cast('-0.00000012' as decimal(20,8))"),
        },
        differs={"Spark": {"payload": "-1.2E-7"}},
    ),
    Kind(
        "time with its zone",
        "2036-11-29T19:00:00.500000Z",
        '"2036-11-29T19:00:00.500000Z"',
        expiration="2111598000",
        written={
            "CSV": ("RFC 3339", "2036-11-29T19:00:00.500000Z"),
            "NDJSON": ("RFC 3339 in a string", '"2036-11-29T19:00:00.500000Z"'),
            "Python": ("datetime", MOMENT),
            "pandas": ("datetime64[ns, tz]", pandas("datetime64[ns, Europe/Berlin]", MOMENT)),
            "polars": ("Datetime with a zone", polars(lambda pl: pl.Datetime("us", "Europe/Berlin"), MOMENT)),
            "Arrow": ("timestamp with a zone", arrow(lambda pa: pa.timestamp("ns", "Europe/Berlin"), MOMENT)),
            "Spark": ("timestamp", "timestamp'2036-11-29 20:00:00.5+01:00'"),
        },
    ),
    Kind(
        "time without a zone",
        Invalid(ZONE),
        Invalid(ZONE),
        written={
            "CSV": ("`2036-11-29 20:00:00`", "2036-11-29 20:00:00"),
            "NDJSON": ("string", '"2036-11-29 20:00:00"'),
            "Python": ("datetime, numpy.datetime64", datetime(2036, 11, 29, 20)),
            "pandas": ("datetime64[ns]", pandas("datetime64[ns]", datetime(2036, 11, 29, 20))),
            "polars": ("Datetime", polars(lambda pl: pl.Datetime("us"), datetime(2036, 11, 29, 20))),
            "Arrow": ("timestamp", arrow(lambda pa: pa.timestamp("us"), datetime(2036, 11, 29, 20))),
            "Spark": ("timestamp_ntz", "timestamp_ntz'2036-11-29 20:00:00'"),
        },
        differs={
            "CSV": {"text": "2036-11-29 20:00:00", "payload": '"2036-11-29 20:00:00"'},
            "NDJSON": {"text": "2036-11-29 20:00:00", "payload": '"2036-11-29 20:00:00"'},
            "pandas": {use: Refused(ZONE) for use in ("text", "number", "json", "expiration")},
            **_in_frames(ZONE),
        },
    ),
    Kind(
        "date",
        "2036-11-29",
        '"2036-11-29"',
        written={
            "CSV": ("`2036-11-29`", "2036-11-29"),
            "NDJSON": ("string", '"2036-11-29"'),
            "Python": ("date", date(2036, 11, 29)),
            "pandas": ("object of date", pandas("object", date(2036, 11, 29))),
            "polars": ("Date", polars(lambda pl: pl.Date, date(2036, 11, 29))),
            "Arrow": ("date32, date64", arrow(lambda pa: pa.date32(), date(2036, 11, 29))),
            "Spark": ("date", "date'2036-11-29'"),
        },
    ),
    Kind(
        "time of day",
        "20:15:00",
        '"20:15:00"',
        written={
            "CSV": ("`20:15:00`", "20:15:00"),
            "NDJSON": ("string", '"20:15:00"'),
            "Python": ("time", time(20, 15)),
            "pandas": ("object of time", pandas("object", time(20, 15))),
            "polars": ("Time", polars(lambda pl: pl.Time, time(20, 15))),
            "Arrow": ("time32, time64", arrow(lambda pa: pa.time64("ns"), time(20, 15))),
        },
    ),
    Kind(
        "interval",
        Invalid(INTERVAL),
        Invalid(INTERVAL),
        written={
            "Python": ("timedelta, numpy.timedelta64", timedelta(hours=2)),
            "pandas": ("timedelta64[ns]", pandas("timedelta64[ns]", timedelta(hours=2))),
            "polars": ("Duration", polars(lambda pl: pl.Duration, timedelta(hours=2))),
            "Arrow": ("duration, interval", arrow(lambda pa: pa.duration("s"), timedelta(hours=2))),
            "Spark": ("interval", "interval 2 hours"),
        },
        differs={
            "pandas": {use: Refused(INTERVAL) for use in ("text", "number", "json", "expiration")},
            **_in_frames(INTERVAL),
        },
    ),
    Kind(
        "UUID",
        str(ID),
        f'"{ID}"',
        written={
            "CSV": ("its text", str(ID)),
            "NDJSON": ("string", f'"{ID}"'),
            "Python": ("UUID", ID),
            "pandas": ("object of UUID", pandas("object", ID)),
            "Arrow": (
                "uuid",
                lambda pa: pa.ExtensionArray.from_storage(pa.uuid(), pa.array([ID.bytes], pa.binary(16))),
            ),
        },
    ),
    Kind(
        "bytes",
        Invalid(BYTES),
        Invalid(BYTES),
        token=TOKEN,
        written={
            "Python": ("bytes, bytearray, memoryview", bytes.fromhex(TOKEN)),
            "pandas": ("object of bytes", pandas("object", bytes.fromhex(TOKEN))),
            "polars": ("Binary", polars(lambda pl: pl.Binary, bytes.fromhex(TOKEN))),
            "Arrow": ("binary", arrow(lambda pa: pa.large_binary(), bytes.fromhex(TOKEN))),
            "Spark": ("binary", f"unhex('{TOKEN}')"),
        },
        differs=_in_frames(BYTES),
    ),
    Kind(
        "member of an Enum",
        "red",
        '"red"',
        written={"Python": ("Enum", Colour.RED), "pandas": ("object of Enum", pandas("object", Colour.RED))},
    ),
    Kind(
        "list",
        '[1,null,"x"]',
        '[1,null,"x"]',
        is_json=True,
        written={
            "CSV": ("JSON", '[1,null,"x"]'),
            "NDJSON": ("array", '[1,null,"x"]'),
            "Python": ("list, tuple, numpy.ndarray", [1, None, "x"]),
            "pandas": ("object of lists", pandas("object", [1, None, "x"])),
        },
    ),
    Kind(
        "list of one type",
        "[1,null,3]",
        "[1,null,3]",
        is_json=True,
        written={
            "polars": ("List, Array", polars(lambda pl: pl.List(pl.Int64), [1, None, 3])),
            "Arrow": ("list, large_list …", arrow(lambda pa: pa.list_(pa.int64()), [1, None, 3])),
            "Spark": ("array", "array(1, null, 3)"),
        },
    ),
    Kind(
        "mapping",
        '{"x":1,"y":null}',
        '{"x":1,"y":null}',
        is_json=True,
        written={
            "CSV": ("JSON", '{"x":1,"y":null}'),
            "NDJSON": ("object", '{"x":1,"y":null}'),
            "Python": ("dict, Mapping", {"x": 1, "y": None}),
            "pandas": ("object of dicts", pandas("object", {"x": 1, "y": None})),
            "Arrow": ("map", arrow(lambda pa: pa.map_(pa.string(), pa.int64()), [("x", 1), ("y", None)])),
            "Spark": ("map", "map('x', 1, 'y', null)"),
        },
    ),
    Kind(
        "struct",
        '{"x":1}',
        '{"x":1}',
        is_json=True,
        written={
            "Python": ("dataclass", Point(1, None)),
            "pandas": ("object of named tuples", pandas("object", Pair(1, None))),
            "polars": (
                "Struct",
                lambda pl: pl.Series([{"x": 1, "y": None}], dtype=pl.Struct({"x": pl.Int64, "y": pl.Int64})),
            ),
            "Arrow": (
                "struct",
                lambda pa: pa.array([{"x": 1, "y": None}], pa.struct([("x", pa.int64()), ("y", pa.int64())])),
            ),
            "Spark": ("struct", "named_struct('x', 1, 'y', cast(null as int))"),
        },
    ),
    Kind(
        "NaN within a value",
        Invalid(FINITE),
        Invalid(FINITE),
        written={
            "Python": ("float in it", {"x": [float("inf")]}),
            "pandas": ("object with a float in it", pandas("object", {"x": [float("inf")]})),
            "polars": ("Float64", polars(lambda pl: pl.List(pl.Float64), [float("inf")])),
            "Arrow": ("double", arrow(lambda pa: pa.list_(pa.float64()), [float("inf")])),
            "Spark": ("double", "array(named_struct('x', double('infinity')))"),
        },
    ),
    Kind(
        "half of a surrogate pair",
        Invalid("expected a text, found half of a surrogate pair"),
        Invalid("expected a text, found half of a surrogate pair"),
        written={
            "NDJSON": ("`\\ud800`", '"a\\ud800"'),
            "Python": ("str", "a\ud800"),
            "pandas": ("object of str", pandas("object", "a\ud800")),
        },
        differs={"NDJSON": {use: Invalid("half of a surrogate pair") for use in USES}},
    ),
    Kind(
        "text with a NUL",
        Invalid("expected a text, found a NUL"),
        Invalid("expected a text, found a NUL"),
        written={
            "NDJSON": ("`\\u0000`", '"a\\u0000b"'),
            "Python": ("str", "a\0b"),
            "pandas": ("object of str", pandas("object", "a\0b")),
            "polars": ("String", polars(lambda pl: pl.String, "a\0b")),
            "Arrow": ("string", arrow(lambda pa: pa.string(), "a\0b")),
            "Spark": ("string", "'a\\u0000b'"),
        },
        differs={
            "NDJSON": {use: Invalid("a NUL character") for use in USES},
            # Within a value, the command looks at it.
            "Spark": {"payload": Invalid("a NUL character")},
        },
    ),
    Kind(
        "something else",
        Invalid("expected a value of JSON"),
        Invalid("expected a value of JSON"),
        written={
            "Python": ("set, complex, any object", {1, 2}),
            "pandas": ("object", pandas("object", {1, 2})),
        },
    ),
)
