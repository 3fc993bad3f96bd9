"""Freezes the rows of a program into parts."""

from __future__ import annotations

import os
import pathlib
import shutil
import zlib
from typing import IO, Any

from ._layout import RunLayout
from ._manifest import Part
from ._rows import frozen_lines

_READ_BYTES = 1 << 20


def freeze_rows(rows: Any, layout: RunLayout, parts: int) -> None:
    """Writes rows as NDJSON, each into the part that its token decides, so that no device gets pushes from two senders at once.

    Rows of a part keep their order. The parts are complete when `_SUCCESS` exists; what an earlier program left unfinished is removed.
    """
    shutil.rmtree(layout.input, ignore_errors=True)
    layout.input.mkdir()
    files: list[IO[str]] = []
    try:
        files += [open(_part_path(layout, part), "w", encoding="utf-8") for part in range(parts)]  # noqa: SIM115
        for token, line in frozen_lines(rows):
            files[zlib.crc32(token.lower().encode("utf-8", "replace")) % parts].write(line + "\n")
        for file in files:
            file.flush()
            os.fsync(file.fileno())
    finally:
        for file in files:
            file.close()
    layout.input_is_frozen.touch()


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
