"""Frames of pandas, polars and Arrow as rows, a slice at a time.

A frame is recognized by the modules that are loaded: who has one has loaded its package, and nobody else needs it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from ._errors import ConfigurationError
from ._needs import Needs
from ._schema import Schema
from ._values import TOKEN, is_unicode

# Rows whose values exist at the same time.
_SLICE = 8192

Convert = Callable[[Any], Any]


@dataclass(frozen=True)
class Frame:
    """The rows of a frame, with what its schema says before one of them is looked at."""

    columns: tuple[str, ...]
    slices: Callable[[Sequence[int]], Iterator[Sequence[Sequence[Any]]]]
    """Yields some columns, by their numbers, of some rows, as lists of values of Python."""
    unfit: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())
    """Columns whose type no row can have: what was expected and what was found."""
    kinds: tuple[str, ...] | None = None
    """The types of the columns; None if the values decide about them, as in pandas."""
    source: str = ""
    """The package whose types these are."""

    @property
    def schema(self) -> Schema:
        """What is compared with the rows of another call."""
        kinds = self.kinds or ("",) * len(self.columns)
        return Schema(dict(zip(self.columns, kinds, strict=True)), source=self.source)

    def rows(self, needs: Needs) -> Iterator[dict[str, Any]]:
        """Yields the rows with the columns that are used. The values of others are not looked at."""
        names = needs.used(self.columns)
        numbers = [self.columns.index(name) for name in names]
        for columns in self.slices(numbers):
            for values in zip(*columns, strict=True):
                yield dict(zip(names, values, strict=True))


def frame_of(rows: Any) -> Frame | None:
    """Returns the frame that `rows` is, or None if it is none. Raises ConfigurationError if its columns cannot be those of rows."""
    for package, of in (("pandas", _of_pandas), ("polars", _of_polars), ("pyarrow", _of_arrow)):
        module = sys.modules.get(package)
        frame = None if module is None else of(module, rows)
        if frame is not None:
            return frame
    if type(rows).__module__.startswith("pyspark."):
        raise ConfigurationError("rows: a DataFrame of Spark is sent by apns_batch.spark.send")
    return None


def check_names(names: Sequence[Any]) -> None:
    """Raises ConfigurationError if one of the names is no text, or if two columns have the same one."""
    for name in names:
        if not isinstance(name, str):
            raise ConfigurationError(
                f"column {name!r}: expected a text as name, found a {type(name).__name__}"
            )
        if not is_unicode(name) or "\0" in name:
            raise ConfigurationError(
                f"column {name!a}: expected a text as name, found half of a pair or a NUL"
            )
    twice = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if twice is not None:
        raise ConfigurationError(f'two columns have the name "{twice}"; rename one of them, or leave it out')


ZONELESS = ("a time with its zone", "times without one: give the column its zone, or write it as a text")
INTERVAL = ("a time or a number of seconds", "intervals: write them as numbers or texts")
TEXTS = "texts or bytes"
BINARY = ("bytes in token only", "bytes: write them as texts")


NUMBERS, MOMENTS, TEXTUAL, NESTED = "numbers", "times with a zone", "texts", "values within values"
OTHER = "other values"
_EVERY = frozenset({NUMBERS, MOMENTS, TEXTUAL, OTHER})
# What the header fields of a row can be made of.
_HEADER_FIELDS = {
    "expiration": (frozenset({NUMBERS, MOMENTS, TEXTUAL}), "seconds since 1970 or times with their zone"),
    "priority": (frozenset({NUMBERS, TEXTUAL}), "1, 5 or 10"),
    **dict.fromkeys(("topic", "push_type", "collapse_id", "apns_id"), (_EVERY, "texts")),
}


def unfit_field(name: str, family: str, kind: object) -> tuple[str, str] | None:
    """What was expected of a column and what was found, if a header field of its name cannot be of its type.

    :param family: What its values are: NUMBERS, MOMENTS, TEXTUAL, NESTED or OTHER.
    """
    families, expected = _HEADER_FIELDS.get(name, (frozenset({family}), ""))
    return None if family in families else (expected, str(kind))


def told(expected_and_found: tuple[str, str]) -> str:
    return "expected {}, found {}".format(*expected_and_found)


def refuse_tokens(kind: object) -> NoReturn:
    """Raises ConfigurationError, because tokens cannot be of this type."""
    raise ConfigurationError(f"column {TOKEN}: expected {TEXTS}, found {kind}")


def _polars_texts(polars: Any) -> tuple[Any, ...]:
    return polars.String, polars.Categorical, polars.Enum, polars.Binary, polars.Object


def _is_arrow_text(arrow: Any, kind: Any) -> bool:
    if isinstance(kind, arrow.BaseExtensionType):
        return False
    if arrow.types.is_dictionary(kind):
        return _is_arrow_text(arrow, kind.value_type)
    return any(word in str(kind) for word in ("string", "binary")) and kind.num_fields == 0


def _of_pandas(pandas: Any, rows: Any) -> Frame | None:
    if isinstance(rows, pandas.Series):
        raise ConfigurationError("rows: expected a DataFrame of pandas, found a Series")
    if not isinstance(rows, pandas.DataFrame):
        return None
    check_names(list(rows.columns))
    unfit: dict[str, str] = {}
    for name, kind in zip(rows.columns, rows.dtypes, strict=True):
        family = getattr(kind, "kind", "")
        if name == TOKEN and family in "iufbcmM" and family:
            refuse_tokens(kind)
        if family == "M" and getattr(kind, "tz", None) is None and not _has_zone(kind):
            unfit[name] = told(ZONELESS)
        elif family == "m":
            unfit[name] = told(INTERVAL)

    convert = [_arrow_in_pandas(kind) for kind in rows.dtypes]

    def slices(numbers: Sequence[int]) -> Iterator[list[list[Any]]]:
        for start in range(0, len(rows), _SLICE):
            part = rows.iloc[start : start + _SLICE]
            yield [_mapped_list(convert[number], _of_series(part.iloc[:, number])) for number in numbers]

    return Frame(tuple(rows.columns), slices, unfit)


def _mapped_list(convert: Convert | None, values: list[Any]) -> list[Any]:
    return values if convert is None else list(map(convert, values))


def _has_zone(kind: Any) -> bool:
    """Whether a type of Arrow within pandas has a zone."""
    return getattr(getattr(kind, "pyarrow_dtype", None), "tz", None) is not None


def _arrow_in_pandas(kind: Any) -> Convert | None:
    """How values are taken that Arrow has within pandas."""
    if not hasattr(kind, "pyarrow_dtype"):
        return None
    return _arrow_convert(sys.modules["pyarrow"], kind.pyarrow_dtype)


def _of_series(series: Any) -> list[Any]:
    """The values of a column of pandas, in which NaN is a value that is missing."""
    return [None if isinstance(value, float) and value != value else value for value in series]  # noqa: PLR0124


def _of_polars(polars: Any, rows: Any) -> Frame | None:
    if isinstance(rows, polars.LazyFrame | polars.Series):
        raise ConfigurationError(f"rows: expected a DataFrame of polars, found a {type(rows).__name__}")
    if not isinstance(rows, polars.DataFrame):
        return None
    check_names(rows.columns)
    unfit: dict[str, str] = {}
    for name, kind in rows.schema.items():
        if name == TOKEN and not isinstance(kind, _polars_texts(polars)):
            refuse_tokens(kind)
        found = _unfit_in_polars(polars, kind, name == TOKEN)
        found = found or unfit_field(name, _polars_family(polars, kind), kind)
        if found is not None:
            unfit[name] = told(found)
    clean: list[Convert | None] = [
        _without_nulls if isinstance(kind, polars.Struct) or kind.is_nested() else None
        for kind in rows.dtypes
    ]

    def slices(numbers: Sequence[int]) -> Iterator[list[list[Any]]]:
        for part in rows.iter_slices(_SLICE):
            yield [_mapped_list(clean[number], part.to_series(number).to_list()) for number in numbers]

    return Frame(tuple(rows.columns), slices, unfit, tuple(map(str, rows.dtypes)), "polars")


def _polars_family(polars: Any, kind: Any) -> str:
    if kind.is_nested():
        return NESTED
    if kind.is_numeric() or isinstance(kind, polars.Null):
        return NUMBERS
    if isinstance(kind, _polars_texts(polars)):
        return TEXTUAL
    return MOMENTS if isinstance(kind, polars.Datetime) else OTHER


def _unfit_in_polars(polars: Any, kind: Any, is_token: bool) -> tuple[str, str] | None:
    if isinstance(kind, polars.Datetime) and kind.time_zone is None:
        return ZONELESS
    if isinstance(kind, polars.Duration):
        return INTERVAL
    if isinstance(kind, polars.Binary) and not is_token:
        return BINARY
    inner: list[Any] = [member.dtype for member in kind.fields] if isinstance(kind, polars.Struct) else []
    if isinstance(kind, polars.List | polars.Array):
        inner.append(kind.inner)
    found = (_unfit_in_polars(polars, each, False) for each in inner)
    return next((each for each in found if each is not None), None)


def _without_nulls(value: Any) -> Any:
    """A value of polars, whose dicts are structs: members without a value are left out."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return {name: _without_nulls(member) for name, member in members.items() if member is not None}
    if isinstance(value, list):
        return [_without_nulls(each) for each in cast("list[object]", value)]
    return value


def _of_arrow(arrow: Any, rows: Any) -> Frame | None:
    if not isinstance(rows, arrow.Table | arrow.RecordBatch | arrow.RecordBatchReader):
        return None
    schema = rows.schema
    check_names(schema.names)
    unfit: dict[str, str] = {}
    for member in schema:
        if member.name == TOKEN and not _is_arrow_text(arrow, member.type):
            refuse_tokens(member.type)
        found = _unfit_in_arrow(arrow, member.type, member.name == TOKEN)
        found = found or unfit_field(member.name, _arrow_family(arrow, member.type), member.type)
        if found is not None:
            unfit[member.name] = told(found)
    convert = [_arrow_values(arrow, member.type) for member in schema]

    def slices(numbers: Sequence[int]) -> Iterator[list[list[Any]]]:
        for batch in _batches(arrow, rows):
            for start in range(0, batch.num_rows, _SLICE):
                part = batch.slice(start, _SLICE)
                yield [convert[number](part.column(number)) for number in numbers]

    kinds = tuple(_without_layout(str(member.type)) for member in schema)
    return Frame(tuple(schema.names), slices, unfit, kinds, "arrow")


def _without_layout(kind: str) -> str:
    """The name of a type, whatever layout its values have in memory: `string` of `large_string` and `string_view`."""
    return kind.replace("large_", "").replace("_view", "")


def _batches(arrow: Any, rows: Any) -> Iterator[Any]:
    if isinstance(rows, arrow.RecordBatch):
        return iter([rows])
    return iter(rows.to_batches() if isinstance(rows, arrow.Table) else rows)


def _inner_types(arrow: Any, kind: Any) -> list[Any]:
    types = arrow.types
    if types.is_dictionary(kind):
        return [kind.value_type]
    if types.is_map(kind):
        return [kind.key_type, kind.item_type]
    return [kind.field(number).type for number in range(kind.num_fields)]


def _arrow_family(arrow: Any, kind: Any) -> str:
    types = arrow.types
    if types.is_dictionary(kind):
        return _arrow_family(arrow, kind.value_type)
    if types.is_nested(kind):
        return NESTED
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
        return NUMBERS
    if _is_arrow_text(arrow, kind):
        return TEXTUAL
    return MOMENTS if types.is_timestamp(kind) else OTHER


def _unfit_in_arrow(arrow: Any, kind: Any, is_token: bool) -> tuple[str, str] | None:
    types = arrow.types
    if isinstance(kind, arrow.BaseExtensionType):
        return None
    if types.is_timestamp(kind) and kind.tz is None:
        return ZONELESS
    if types.is_duration(kind) or types.is_interval(kind):
        return INTERVAL
    is_bytes = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    if (is_bytes or kind == arrow.binary_view()) and not is_token:
        return BINARY
    inner = (
        _unfit_in_arrow(arrow, each, is_token and types.is_dictionary(kind))
        for each in _inner_types(arrow, kind)
    )
    return next((each for each in inner if each is not None), None)


def _arrow_values(arrow: Any, kind: Any) -> Convert:
    """How the values of a column are taken. Structs leave out members without a value, and maps are mappings."""
    convert = _arrow_convert(arrow, kind)
    microseconds = _in_microseconds(arrow, kind)

    def take(column: Any) -> list[Any]:
        if microseconds is not None:
            column = column.cast(microseconds, safe=False)
        values: list[Any] = column.to_pylist()
        return values if convert is None else list(map(convert, values))

    return take


def _in_microseconds(arrow: Any, kind: Any) -> Any:
    """The type to cast to first: Python has no nanoseconds."""
    types = arrow.types
    if types.is_timestamp(kind) and kind.unit == "ns":
        return arrow.timestamp("us", kind.tz)
    return arrow.time64("us") if types.is_time64(kind) and kind.unit == "ns" else None


def _arrow_convert(arrow: Any, kind: Any) -> Convert | None:
    types = arrow.types
    if isinstance(kind, arrow.BaseExtensionType) or types.is_dictionary(kind):
        return None
    inner = [_arrow_convert(arrow, each) for each in _inner_types(arrow, kind)]
    if types.is_struct(kind):
        members = [kind.field(number).name for number in range(kind.num_fields)]
        each = dict(zip(members, inner, strict=True))
        return lambda value: (
            value
            and {
                name: _applied(each.get(name), member) for name, member in value.items() if member is not None
            }
        )
    if types.is_map(kind):
        return lambda value: None if value is None else _mapped(inner[1], value)
    if len(inner) == 1 and inner[0] is not None:
        return lambda value: None if value is None else [_applied(inner[0], each) for each in value]
    return None


def _mapped(convert: Convert | None, value: Any) -> dict[Any, Any]:
    pairs = cast("Iterable[tuple[Any, Any]]", value.items() if isinstance(value, dict) else value)
    return {key: _applied(convert, member) for key, member in pairs}


def _applied(convert: Convert | None, value: Any) -> Any:
    return value if convert is None else convert(value)
