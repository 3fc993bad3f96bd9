"""Freezes the rows of a program into parts."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import shutil
import zlib
from collections.abc import Iterable, Mapping
from typing import IO, Any

from ._errors import ConfigurationError
from ._layout import RunLayout
from ._manifest import Part

TOKEN = "token"  # noqa: S105, a column
_READ_BYTES = 1 << 20
# As many rows as the command judges an input by.
_FIRST_ROWS = 1000


def freeze_rows(rows: Iterable[Mapping[str, Any]], layout: RunLayout, parts: int) -> None:
    """Writes rows as NDJSON, each into the part that its token decides, so that no device gets pushes from two senders at once.

    Rows of a part keep their order. The parts are complete when `_SUCCESS` exists; what an earlier program left unfinished is removed.

    Each part is judged by its first rows, so every row gets the keys that one of the first rows has, with null: a part with few rows may have
    none that has them all.
    """
    remaining = iter(rows)
    first = list(itertools.islice(remaining, _FIRST_ROWS))
    keys = dict.fromkeys(key for row in first for key in row)
    shutil.rmtree(layout.input, ignore_errors=True)
    layout.input.mkdir()
    files: list[IO[str]] = []
    try:
        files += [open(_part_path(layout, part), "w", encoding="utf-8") for part in range(parts)]  # noqa: SIM115
        for number, row in enumerate(itertools.chain(first, remaining), 1):
            token = row.get(TOKEN)
            if not isinstance(token, str):
                raise ConfigurationError(f"row {number}: {TOKEN} is no text, and a device token is expected")
            line = _line(row if keys.keys() <= row.keys() else {**dict.fromkeys(keys), **row}, number)
            files[zlib.crc32(token.lower().encode("utf-8", "replace")) % parts].write(line + "\n")
        for file in files:
            file.flush()
            os.fsync(file.fileno())
    finally:
        for file in files:
            file.close()
    layout.input_is_frozen.touch()


def _line(row: Mapping[str, Any], number: int) -> str:
    try:
        return json.dumps(dict(row), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"row {number}: a value cannot be written as JSON: {error}") from error


def _part_path(layout: RunLayout, part: int) -> pathlib.Path:
    return layout.input / f"part-{part:05}.json"


def frozen_files(layout: RunLayout) -> list[pathlib.Path]:
    """The files of the frozen rows, in the order of their numbers; those without rows are left out."""
    files = sorted(layout.input.glob("part-*"))
    return [path for path in files if path.stat().st_size > 0]


def measured(layout: RunLayout, number: int, path: pathlib.Path) -> Part:
    """A part with its size. The file is read to its end, because its lines are its rows."""
    lines, size = 0, 0
    with open(path, "rb") as file:
        while block := file.read(_READ_BYTES):
            lines += block.count(b"\n")
            size += len(block)
    return Part(number, str(path.relative_to(layout.root)), size, lines)
