"""Freezes rows into parts: who writes says what was written, and the driver believes only what it reads itself."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pathlib
import shutil
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from ._errors import StorageError
from ._layout import RunLayout
from ._manifest import Part
from ._proof import sync_directory
from ._rows import frozen_lines

_BLOCK_BYTES = 1 << 20
_READERS = 4


@dataclass(frozen=True)
class Frozen:
    """A file of frozen rows, as its writer reports it."""

    part: int
    """The number that the writer knows it by. Parts are numbered in the order of these."""
    file: str
    """Its name in the input directory."""
    rows: int
    bytes: int
    sha256: str
    host: str = ""
    """The machine of its writer."""
    buckets: tuple[int, ...] = ()
    """The hashes of tokens that were divided by; no two files have one in common."""


class PartWriter:
    """Writes a file of frozen rows, which only its owner can read."""

    def __init__(self, layout: RunLayout, part: int) -> None:
        self._part, self._path = part, layout.new_attempt()
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file = os.fdopen(descriptor, "wb", buffering=0)
        self._digest, self._block = hashlib.sha256(), bytearray()
        self._rows, self._bytes = 0, 0

    def write(self, lines: bytes, rows: int = 1) -> None:
        """Writes lines with their ends."""
        self._block += lines
        self._rows += rows
        if len(self._block) >= _BLOCK_BYTES:
            self._write_block()

    def _write_block(self) -> None:
        view = memoryview(bytes(self._block))
        self._digest.update(view)
        self._bytes += len(view)
        self._block.clear()
        while view:
            view = view[self._file.write(view) :]

    def finish(self) -> Frozen:
        """Brings all to the disk, and says what it is."""
        self._write_block()
        os.fsync(self._file.fileno())
        self.close()
        return Frozen(self._part, self._path.name, self._rows, self._bytes, self._digest.hexdigest())

    def close(self) -> None:
        self._file.close()


def begin_input(layout: RunLayout) -> None:
    """Makes an empty directory for frozen rows. What an earlier program left unfinished is removed."""
    if layout.input.exists():
        shutil.rmtree(layout.input)
    layout.input.mkdir(mode=0o700)


def freeze_rows(rows: Any, layout: RunLayout, parts: int) -> list[Frozen]:
    """Writes rows as NDJSON, each into the part that its token decides, so that no device gets pushes from two senders at once.

    Rows of a part keep their order.
    """
    with contextlib.ExitStack() as open_files:
        writers = [PartWriter(layout, part) for part in range(parts)]
        for writer in writers:
            open_files.callback(writer.close)
        for token, line in frozen_lines(rows):
            number = zlib.crc32(token.lower().encode("utf-8", "replace")) % parts
            writers[number].write(line.encode("utf-8") + b"\n")
        return [writer.finish() for writer in writers]


def accept(layout: RunLayout, reports: Sequence[Frozen]) -> tuple[Part, ...]:
    """Compares the files with what their writers reported, gives the good ones their names, and removes those of other attempts.

    Raises StorageError if a file is missing or differs: nothing may be sent then.
    """
    filled = sorted((report for report in reports if report.rows > 0), key=lambda report: report.part)
    _refuse_shared_tokens(filled)
    with ThreadPoolExecutor(_READERS, thread_name_prefix="apns-batch-frozen") as pool:
        for report, found in zip(filled, pool.map(functools.partial(_read, layout), filled), strict=True):
            _compare(layout, report, found)
    parts: list[Part] = []
    for number, report in enumerate(filled):
        path = layout.input_of(number)
        os.replace(layout.input / report.file, path)
        parts.append(
            Part(number, str(path.relative_to(layout.root)), report.bytes, report.rows, report.sha256)
        )
    remove_attempts(layout)
    sync_directory(layout.input)
    return tuple(parts)


def remove_attempts(layout: RunLayout) -> None:
    """Removes the files of attempts that were not accepted, which hold rows."""
    for path in layout.input.glob(".attempt-*"):
        with contextlib.suppress(OSError):
            path.unlink()


def _refuse_shared_tokens(reports: Sequence[Frozen]) -> None:
    """A device whose rows are in two parts could get pushes from two senders at once."""
    seen: set[int] = set()
    for report in reports:
        if not seen.isdisjoint(report.buckets):
            raise StorageError(
                f"part {report.part}: rows of one token are in two parts, because this session divides rows in a way of its own;"
                " nothing was sent"
            )
        seen.update(report.buckets)


def _read(layout: RunLayout, report: Frozen) -> tuple[int, int, str] | OSError:
    try:
        return measured(layout.input / report.file)
    except OSError as error:
        return error


def _compare(layout: RunLayout, report: Frozen, found: tuple[int, int, str] | OSError) -> None:
    said = (report.rows, report.bytes, report.sha256)
    if found == said:
        return
    path = layout.input / report.file
    where = f"{path}: written by {report.host or 'this machine'}"
    if isinstance(found, OSError):
        raise StorageError(
            f"{where}, and cannot be read here ({found.strerror}); nothing was sent"
        ) from found
    raise StorageError(
        f"{where} with {report.rows} rows in {report.bytes} bytes, and {found[0]} rows in {found[1]} bytes are read here"
        f"{'' if found[:2] != said[:2] else ', which are others'}; nothing was sent"
    )


def measured(path: pathlib.Path) -> tuple[int, int, str]:
    """The rows of a file, its bytes and their SHA-256. It is read to its end, because its lines are its rows."""
    rows, size, digest = 0, 0, hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK_BYTES):
            rows += block.count(b"\n")
            size += len(block)
            digest.update(block)
    return rows, size, digest.hexdigest()


def check_frozen(layout: RunLayout, part: Part) -> None:
    """Raises StorageError unless this machine sees the rows that were frozen. Before the first push of a part all bytes are read."""
    path = layout.root / part.input
    size = path.stat().st_size
    if size != part.bytes:
        raise StorageError(
            f"{path}: {part.bytes} bytes were frozen, and this machine sees {size}; nothing of it is sent"
        )
    if part.sha256 and not layout.has_begun(part.part) and measured(path)[2] != part.sha256:
        raise StorageError(
            f"{path}: this machine sees other bytes than those that were frozen; nothing of it is sent"
        )
