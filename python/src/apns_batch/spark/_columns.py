"""Types of Spark as JSON: the same table as for Python, which docs/integrate/values.md shows, in terms of columns.

All of it runs in the JVM, with functions that Spark Connect has, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql import types as t

from .._errors import ConfigurationError
from .._frames import (
    BINARY,
    INTERVAL,
    MOMENTS,
    NESTED,
    NUMBERS,
    OTHER,
    TEXTUAL,
    ZONELESS,
    check_names,
    refuse_tokens,
    told,
    unfit_field,
)
from .._rows import missing_token
from .._values import TOKEN

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Times in UTC, whatever zone the session has, and no members of structs without a value. Values of maps keep their nulls.
_JSON = {"timeZone": "UTC", "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss", "ignoreNullFields": "true"}
_WHOLE = 2.0**53
_SIMPLE = (t.StringType, t.BooleanType, t.IntegralType, t.DateType, t.NullType, t.VarcharType, t.CharType)
_TEXTS = (t.StringType, t.VarcharType, t.CharType)
_NUL = "\0"
_FLOATS = (t.FloatType, t.DoubleType)
# Types that not every version of PySpark has, by what they are called.
_LATER_TEXTS = ("TimeType",)
_LATER_SIMPLE = ("VariantType",)


def check_columns(frame: DataFrame) -> dict[str, str]:
    """Returns the columns whose types no row can have, with what was expected and found.

    Raises ConfigurationError unless the rows have tokens, and every column its own name.
    """
    if not hasattr(frame, "sparkSession"):
        kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
        raise ConfigurationError(
            f"df: expected a DataFrame of Spark, found a {kind}; apns_batch.run sends other rows"
        )
    if frame.isStreaming:
        raise ConfigurationError("df: a stream has no end; send each of its batches (foreachBatch)")
    check_names(frame.columns)
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    if TOKEN not in kinds:
        raise ConfigurationError(f"df: {missing_token(frame.columns)}")
    token = kinds.pop(TOKEN)
    if not isinstance(token, t.StringType | t.BinaryType):
        refuse_tokens(token.simpleString())
    found = {
        name: unfit_type(kind) or unfit_field(name, _family(kind), kind.simpleString())
        for name, kind in kinds.items()
    }
    return {name: told(fault) for name, fault in found.items() if fault is not None}


def unfit_type(kind: t.DataType) -> tuple[str, str] | None:
    """What was expected of a type and what was found, if no row can have it."""
    name = kind.simpleString()
    if isinstance(kind, t.MapType) and not isinstance(kind.keyType, t.StringType):
        return "texts as keys of a map", f"keys of the type {kind.keyType.simpleString()}"
    inner = inner_types(kind)
    if inner is not None:
        return next((fault for fault in map(unfit_type, inner) if fault is not None), None)
    if isinstance(kind, (*_SIMPLE, *_FLOATS, t.DecimalType, t.TimestampType)) or _is_later(kind):
        return None
    known = {"timestamp_ntz": ZONELESS, "binary": BINARY}
    return INTERVAL if "interval" in name else known.get(name, ("a type that JSON has", name))


def _family(kind: t.DataType) -> str:
    if inner_types(kind) is not None or type(kind).__name__ in _LATER_SIMPLE:
        return NESTED
    if isinstance(kind, t.NumericType | t.NullType):
        return NUMBERS
    if isinstance(kind, _TEXTS):
        return TEXTUAL
    return MOMENTS if isinstance(kind, t.TimestampType) else OTHER


def _is_later(kind: t.DataType) -> bool:
    return type(kind).__name__ in (*_LATER_TEXTS, *_LATER_SIMPLE)


def inner_types(kind: t.DataType) -> Sequence[t.DataType] | None:
    if isinstance(kind, t.StructType):
        return [field.dataType for field in kind.fields]
    if isinstance(kind, t.ArrayType):
        return [kind.elementType]
    return [kind.valueType] if isinstance(kind, t.MapType) else None


def has(kind: t.DataType, wanted: Callable[[t.DataType], bool]) -> bool:
    """Whether a type or a type within it is one that is looked for."""
    return wanted(kind) or any(has(each, wanted) for each in inner_types(kind) or ())


def as_json(column: Column) -> Column:
    """The members of a struct as a text of JSON, without those that have no value."""
    return f.to_json(column, _JSON)


def field_of(column: Column, kind: t.DataType) -> Column:
    """A value of a row, so that Spark writes it as the command reads it."""
    if isinstance(kind, t.BinaryType):
        return f.lower(f.hex(column))
    if isinstance(kind, _FLOATS):
        is_whole = (column == f.floor(column)) & (f.abs(column) < f.lit(_WHOLE))
        return f.when(is_whole, column.cast("bigint").cast("string")).when(
            _is_finite(column), column.cast("string")
        )
    if isinstance(kind, t.DecimalType):
        return _plain_decimal(column)
    if isinstance(kind, _TEXTS):
        return f.when(~column.contains(_NUL), column)
    if type(kind).__name__ in _LATER_TEXTS:
        return column.cast("string")
    return member_of(column, kind)


def member_of(column: Column, kind: t.DataType) -> Column:
    """A value within a payload, as it is but for its times, which lose zeros behind the second."""
    if isinstance(kind, t.TimestampType):
        return _utc(column)
    if not has(kind, lambda each: isinstance(each, t.TimestampType) or type(each).__name__ in _LATER_TEXTS):
        return column
    if type(kind).__name__ in _LATER_TEXTS:
        return column.cast("string")
    if isinstance(kind, t.StructType):
        members = (
            member_of(column.getField(field.name), field.dataType).alias(field.name) for field in kind.fields
        )
        return f.when(column.isNotNull(), f.struct(*members))
    if isinstance(kind, t.ArrayType):
        element = kind.elementType
        return f.transform(column, lambda each: member_of(each, element))
    assert isinstance(kind, t.MapType)
    value = kind.valueType
    return f.transform_values(column, lambda _, each: member_of(each, value))


def _utc(column: Column) -> Column:
    """A time in UTC. Its fraction has no pattern: `SSSSSS` means something else if the session keeps to the parser of Spark 2."""
    whole = f.regexp_extract(as_json(f.struct(column.alias("t"))), '"t":"(.*)"', 1)
    micros = f.pmod(f.unix_micros(column), f.lit(1_000_000))
    fraction = f.when(micros == 0, "").otherwise(f.concat(f.lit("."), f.lpad(micros.cast("string"), 6, "0")))
    return f.when(column.isNotNull(), f.concat(whole, fraction, f.lit("Z")))


def _plain_decimal(column: Column) -> Column:
    """All digits of a decimal and no exponent, in which Spark writes small ones: 1.23E-8."""
    text = column.cast("string")
    digits = f.regexp_replace(f.regexp_extract(text, r"^-?([0-9.]+)E", 1), r"\.", "")
    places = f.nullif(f.regexp_extract(text, r"E-([0-9]+)$", 1), f.lit("")).cast("int")
    zeros = f.call_function("repeat", f.lit("0"), places - 1)
    sign = f.when(text.startswith("-"), "-").otherwise("")
    return f.when(text.contains("E"), f.concat(sign, f.lit("0."), zeros, digits)).otherwise(text)


def _is_finite(column: Column) -> Column:
    return ~f.isnan(column) & (f.abs(column) != f.lit(float("inf")))


def fault_of(column: Column, kind: t.DataType, name: str, is_field: bool = False) -> Column | None:
    """A text that says what is wrong with a value, or null; None if nothing can be.

    :param is_field: Whether it is a value of a row, and none within such a value: what a text within has, the command looks at.
    """
    if isinstance(kind, _FLOATS):
        found = f.when(f.isnan(column), "NaN").when(column > 0, "infinity").otherwise("-infinity")
        text = f.concat(f.lit(f"{name}: expected a finite number, found "), found)
        return f.when(~_is_finite(column), text)
    if isinstance(kind, _TEXTS) and is_field:
        place = f.instr(column, _NUL)
        text = f.concat(f.lit(f"{name}: expected a text, found a NUL at character "), place.cast("string"))
        return f.when(place > 0, text)
    if isinstance(kind, t.StructType):
        found_in = (
            fault_of(column.getField(field.name), field.dataType, f"{name}.{field.name}")
            for field in kind.fields
        )
        return first_of([each for each in found_in if each is not None])
    if isinstance(kind, t.ArrayType):
        return _fault_of_any(column, kind.elementType, name)
    if isinstance(kind, t.MapType):
        return _fault_of_any(f.map_values(column), kind.valueType, name)
    return None


def _fault_of_any(elements: Column, kind: t.DataType, name: str) -> Column | None:
    if not has(kind, lambda each: isinstance(each, _FLOATS)):
        return None
    faults = f.transform(elements, lambda each: _sure(fault_of(each, kind, name)))
    return f.get(f.filter(faults, lambda each: each.isNotNull()), f.lit(0))


def _sure(fault: Column | None) -> Column:
    return f.lit(None).cast("string") if fault is None else fault


def first_of(faults: Sequence[Column]) -> Column | None:
    return f.coalesce(*faults) if faults else None
