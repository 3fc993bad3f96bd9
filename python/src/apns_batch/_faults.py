"""What went wrong in a task, as a value that it returns.

A task that raises is tried again elsewhere, and its error arrives as one of Spark. A fault does neither.
"""

from __future__ import annotations

import socket
import sys
from dataclasses import dataclass

from ._errors import ApnsBatchError, DriverGoneError, StorageError


@dataclass(frozen=True)
class Fault:
    """An error of this package that a task met."""

    kind: str
    """The name of its class."""
    text: str

    @staticmethod
    def of(error: ApnsBatchError | OSError) -> Fault:
        """The fault of an error, with the machine that met it. Errors of the system are those of the shared directory."""
        kind = type(error).__name__ if isinstance(error, ApnsBatchError) else StorageError.__name__
        return Fault(kind, f"{socket.gethostname()}: {error}")

    def error(self) -> ApnsBatchError:
        found = getattr(sys.modules[ApnsBatchError.__module__], self.kind, ApnsBatchError)
        # The program that asks is there: if a task does not see its lock, the directory is not shared.
        kind = StorageError if found is DriverGoneError else found
        error: ApnsBatchError = kind(self.text)
        return error
