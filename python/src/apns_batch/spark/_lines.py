"""The rows of a DataFrame as lines of NDJSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql import types as t

from .._needs import Needs
from .._rows import REASON, UNREADABLE_END, told_reason
from .._values import TOKEN
from ._columns import as_json, check_columns, fault_of, field_of, first_of, inner_types

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["check_columns", "frame_lines"]

LINE = "line"
_REASON = "reason"


def frame_lines(frame: DataFrame, needs: Needs) -> DataFrame:
    """Returns columns of strings: `token`, in lower case, and `line`, the row as JSON with its nulls.

    A row with a value that JSON does not have has a line that is no JSON, and the reason behind its token (`apns_batch._rows.Line`).

    :param needs: What the campaign uses: Spark does not compute other columns.
    """
    return reasoned_lines(frame, needs).select(TOKEN, LINE)


def reasoned_lines(frame: DataFrame, needs: Needs) -> DataFrame:
    """As `frame_lines`, with `reason`: why a row is invalid, or null."""
    # By their place, names do not matter to Spark: they may have dots, and differ in upper and lower case only.
    columns = {field.name: f.col(f"c{number}") for number, field in enumerate(frame.schema.fields)}
    rows = frame.toDF(*(f"c{number}" for number in range(len(columns))))
    kinds = {field.name: field.dataType for field in frame.schema.fields if needs.uses(field.name)}
    rows = rows.select(*(columns[name] for name in kinds))
    faults = [fault_of(columns[name], kind, told_reason(name), is_field=True) for name, kind in kinds.items()]
    reason = first_of([fault for fault in faults if fault is not None])
    token = field_of(columns[TOKEN], kinds[TOKEN])
    return rows.select(
        f.lower(token).alias(TOKEN),
        _line(columns, kinds, token, reason).alias(LINE),
        (f.lit(None).cast("string") if reason is None else reason).alias(_REASON),
    )


def _line(
    columns: dict[str, Column], kinds: dict[str, t.DataType], token: Column, reason: Column | None
) -> Column:
    # What is wrong within a value spoils what the command reads behind it: such values come last.
    ordered = sorted(kinds, key=lambda name: inner_types(kinds[name]) is not None)
    fields = {name: field_of(columns[name], kinds[name]) for name in ordered if name != TOKEN}
    marked = f.coalesce(token, f.lit(""))
    if reason is not None:
        marked = f.when(reason.isNull(), marked).otherwise(f.concat(marked, f.lit(REASON), reason))
    members = [column.alias(name) for name, column in fields.items()]
    text = as_json(f.struct(marked.alias(TOKEN), *members))
    # Within values, members without a value are left out; of the row, every part must have every key.
    nulls = [f.when(column.isNull(), _null_member(name)) for name, column in fields.items()]
    end = f.lit("}") if reason is None else f.when(reason.isNull(), "}").otherwise(UNREADABLE_END)
    return f.concat(text.substr(f.lit(1), f.length(text) - 1), f.concat_ws("", *nulls), end)


def _null_member(name: str) -> Column:
    """`,"name":null`, as a literal of the driver."""
    return f.lit(f",{json.dumps(name, ensure_ascii=False)}:null")
