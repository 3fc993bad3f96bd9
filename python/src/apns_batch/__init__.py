"""Sends push notifications to APNs for the rows of a program, each of them once.

The rows are frozen into parts first, and then sent by processes of the command `apns-batch`. Whatever is killed meanwhile, a further call
with the same run directory goes on. :mod:`apns_batch.spark` does the same with the rows of a Spark DataFrame on many machines.
"""

from __future__ import annotations

import os

from ._check import Check, Finding, Notification, check
from ._errors import (
    ApnsBatchError,
    ConfigurationError,
    DriverGoneError,
    RunBusyError,
    SenderInterruptedError,
    SendingStoppedError,
    StorageError,
)
from ._local import Run, run, verify
from ._local import open_run as open
from ._results import Outcome, Result, Results, results
from ._status import PartStatus, Status
from ._summary import Summary
from ._verify import Verification
from ._version import VERSION as __version__

__all__ = [
    "ApnsBatchError",
    "Check",
    "ConfigurationError",
    "DriverGoneError",
    "Finding",
    "Notification",
    "Outcome",
    "PartStatus",
    "Result",
    "Results",
    "Run",
    "RunBusyError",
    "SenderInterruptedError",
    "SendingStoppedError",
    "Status",
    "StorageError",
    "Summary",
    "Verification",
    "__version__",
    "check",
    "open",
    "results",
    "run",
    "status",
    "verify",
]


def status(run_dir: str | os.PathLike[str]) -> Status:
    """Returns how a run in parts stands, which may be sent at the moment.

    :param run_dir: The directory of the run.
    :raises ConfigurationError: The directory holds no run in parts.
    """
    return open(run_dir).status()
