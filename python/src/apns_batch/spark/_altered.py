"""Altered fields of CSV files, read by Spark itself: no worker in Python sees the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from .._altered import ALTERED

if TYPE_CHECKING:
    from pyspark.sql import Column


def plain(field: Column) -> Column:
    """What a field was before it was altered. A byte that is no part of a character is U+FFFD, as in other fields that Spark reads."""
    # Between two doubled backslashes, each backslash begins an escape.
    pieces = f.split(field.substr(2, 2**31 - 1), r"\\\\")
    text = f.array_join(f.transform(pieces, _without_escapes), "\\")
    return f.when(field.rlike(ALTERED), text).otherwise(field)


def _without_escapes(piece: Column) -> Column:
    for escape, character in ((r"\\n", "\n"), (r"\\r", "\r"), (r"\\t", "\t"), (r"\\x[0-9a-f]{2}", "\ufffd")):
        piece = f.regexp_replace(piece, escape, character)
    # Each part but the first one begins with the four digits of a character.
    return f.aggregate(
        f.split(piece, r"\\u"),
        f.lit(None).cast("string"),
        lambda text, part: f.when(text.isNull(), part).otherwise(
            f.concat(text, _character(part), part.substr(5, 2**31 - 1))
        ),
    )


def _character(part: Column) -> Column:
    return f.decode(f.unhex(part.substr(1, 4)), "UTF-16BE")
