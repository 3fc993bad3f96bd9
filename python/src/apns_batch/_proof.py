"""Proves that each machine of a run sees the same run directory, in both directions."""

from __future__ import annotations

import os
import pathlib
import secrets
import shutil
import socket
import uuid
from dataclasses import dataclass

from ._errors import StorageError
from ._layout import RunLayout, write_whole
from ._storage import confirm_driver

_REMEDY = "all machines must mount the run directory under the same path, and may write there"


@dataclass(frozen=True)
class Presence:
    """A file that a task has written, as it says."""

    host: str
    name: str
    content: str


@dataclass(frozen=True)
class Proof:
    """What the program that sends a run has written into its directory, with random content: nobody else has the same file."""

    run_dir: str
    content: str

    @staticmethod
    def begin(layout: RunLayout) -> Proof:
        """Writes the file. It replaces that of an earlier start, so that a stale copy of the directory is noticed."""
        shutil.rmtree(layout.shared, ignore_errors=True)
        layout.shared.mkdir(mode=0o700)
        proof = Proof(str(layout.root), secrets.token_hex(16))
        write_whole(layout.shared / "driver", proof.content, 0o600)
        return proof

    def end(self) -> None:
        shutil.rmtree(RunLayout.of(self.run_dir).shared, ignore_errors=True)

    def is_replaced(self) -> bool:
        """Whether a later start has written another file here: its senders are not to be stopped by one of this start."""
        try:
            return (RunLayout.of(self.run_dir).shared / "driver").read_text(encoding="ascii") != self.content
        except (OSError, ValueError):
            return False

    def check(self) -> None:
        """Raises StorageError unless this machine reads what was written, and DriverGoneError if nobody holds the lock of the run."""
        layout = RunLayout.of(self.run_dir)
        path = layout.shared / "driver"
        try:
            found = path.read_text(encoding="ascii")
        except (OSError, ValueError) as error:
            raise StorageError(f"{path}: this machine cannot read it ({error}); {_REMEDY}") from error
        if found != self.content:
            raise StorageError(f"{path}: this machine reads another file; {_REMEDY}")
        confirm_driver(layout.lock)

    def show(self) -> Presence:
        """Checks, and writes a file in return. Raises StorageError if one of both cannot be done."""
        self.check()
        layout = RunLayout.of(self.run_dir)
        presence = Presence(socket.gethostname(), uuid.uuid4().hex, secrets.token_hex(16))
        path = layout.shared / presence.name
        try:
            write_whole(path, presence.content, 0o600)
        except OSError as error:
            raise StorageError(
                f"{layout.root}: this machine cannot write there ({error}); {_REMEDY}"
            ) from error
        return presence

    def confirm(self, presence: Presence) -> None:
        """Raises StorageError unless the program that sends the run reads what a task has written."""
        layout = RunLayout.of(self.run_dir)
        path = layout.shared / presence.name
        try:
            is_same = path.read_text(encoding="ascii") == presence.content
        except (OSError, ValueError):
            is_same = False
        if not is_same:
            raise StorageError(
                f"{presence.host}: {layout.root}: a file that this machine wrote there is not seen by the program"
                f" that sends; {_REMEDY}"
            )


def sync_directory(directory: pathlib.Path) -> None:
    """Writes the names in a directory to the disk."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
