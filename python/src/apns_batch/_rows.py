"""The rows of a program as lines of NDJSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ._errors import ConfigurationError

TOKEN = "token"  # noqa: S105, a column
# As many rows as the command judges an input by.
_FIRST_ROWS = 1000


def frozen_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yields the token and the line of each row.

    Each part is judged by its first rows, so every row gets the keys that one of the first rows has, with null: a part with few rows may have
    none that has them all.
    """
    remaining = iter(rows)
    first = list(itertools.islice(remaining, _FIRST_ROWS))
    keys = dict.fromkeys(key for row in first for key in row)
    for number, row in enumerate(itertools.chain(first, remaining), 1):
        token = row.get(TOKEN)
        if not isinstance(token, str):
            raise ConfigurationError(f"row {number}: {TOKEN} is no text, and a device token is expected")
        yield token, _line(row if keys.keys() <= row.keys() else {**keys, **row}, number)


def _line(row: Mapping[str, Any], number: int) -> str:
    try:
        return json.dumps(dict(row), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"row {number}: a value cannot be written as JSON: {error}") from error
