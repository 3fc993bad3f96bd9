"""What is asked of the directory that driver and executors share: files that all see, and locks that exclude."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Generator

from ._errors import DriverGoneError, RunBusyError, StorageError

# A lock of such a file system is known to one machine only, or to none.
_LOCAL_LOCKS = ("fuse", "fuseblk")

_TRY_LOCK = """
import fcntl, sys
try:
    fcntl.flock(open(sys.argv[1], "r+"), fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(3)
"""


def check_storage(directory: pathlib.Path) -> None:
    """Raises StorageError unless locks exclude in this directory, as far as one machine can tell.

    A second process tries to take a lock that this one holds. That other machines respect it is checked by the tasks,
    which must not be able to take the lock of the driver.
    """
    kind = file_system_of(directory)
    if kind.split(".")[0] in _LOCAL_LOCKS:
        raise StorageError(
            f"{directory}: its file system ({kind}) does not share locks between machines, so that a row could be sent twice;"
            " use a directory of NFS version 4, CephFS, Lustre or one machine's disk"
        )
    probe = directory / f".lock-probe-{os.getpid()}"
    try:
        with open(probe, "w", encoding="ascii") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            other = subprocess.run(
                [sys.executable, "-c", _TRY_LOCK, str(probe)], check=False, capture_output=True
            )
    except OSError as error:
        raise StorageError(f"{directory}: a file in it cannot be locked: {error.strerror}") from error
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()
    if other.returncode != 3:
        raise StorageError(
            f"{directory}: two processes can lock the same file there, so that a row could be sent twice"
        )


def file_system_of(directory: pathlib.Path, mount_list: str = "/proc/self/mountinfo") -> str:
    """The type of the file system of a directory, such as `nfs4`, as the kernel names it; empty if it is not known."""
    found, kind = "", ""
    with contextlib.suppress(OSError), open(mount_list, encoding="utf-8") as mounts:
        path = os.path.realpath(directory)
        for line in mounts:
            before, _, after = line.partition(" - ")
            point = before.split(" ")[4].encode("utf-8").decode("unicode_escape")
            is_above = path == point or path.startswith(point.rstrip("/") + "/")
            if is_above and len(point) >= len(found):
                found, kind = point, after.split(" ")[0]
    return kind


@contextlib.contextmanager
def driver_lock(path: pathlib.Path, patience: float) -> Generator[None, None, None]:
    """Holds the lock of the program that sends a run.

    Raises RunBusyError if another program still holds it after `patience` seconds. Tasks look at the lock for a moment, so
    that it is tried for a second in any case.
    """
    deadline = time.monotonic() + max(1.0, patience)
    with open(path, "a", encoding="ascii") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    raise StorageError(f"{path}: it cannot be locked: {error.strerror}") from error
            if time.monotonic() > deadline:
                raise RunBusyError(f"{path.parent}: another program is sending this run")
            time.sleep(0.1)
        yield


def confirm_driver(path: pathlib.Path) -> None:
    """Raises DriverGoneError if nobody holds the lock of the driver, as this machine sees it."""
    try:
        with open(path, encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return
        raise StorageError(f"{path}: {error.strerror}; do all machines see the run directory?") from error
    raise DriverGoneError(
        f"{path}: nobody holds this lock. Either the program that sends the run has ended, or the file system does not"
        " share locks between machines, and nothing is sent then"
    )
