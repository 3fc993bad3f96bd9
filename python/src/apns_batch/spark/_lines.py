"""The rows of a DataFrame as lines of NDJSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f
from pyspark.sql.types import StringType

from .._errors import ConfigurationError
from .._rows import TOKEN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def check_columns(frame: DataFrame) -> None:
    """Raises ConfigurationError unless the rows have tokens, and every column its own name."""
    if len(set(frame.columns)) != len(frame.columns):
        raise ConfigurationError(f"two columns have the same name: {', '.join(frame.columns)}")
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    if not isinstance(kinds.get(TOKEN), StringType):
        raise ConfigurationError(
            f"the rows need a column {TOKEN} of strings; their columns are {', '.join(frame.columns)}"
        )


def frame_lines(frame: DataFrame) -> DataFrame:
    """Returns two columns of strings: `token`, in lower case, and `line`, the row as JSON with its nulls."""
    names = ["`" + name.replace("`", "``") + "`" for name in frame.columns]
    line = f.to_json(f.struct(*map(f.col, names)), {"ignoreNullFields": "false"})
    return frame.select(f.lower(f.col(TOKEN)).alias(TOKEN), line.alias("line"))
