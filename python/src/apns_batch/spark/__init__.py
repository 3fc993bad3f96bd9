"""Sends a push for each row of a Spark DataFrame, each of them once.

Spark divides the rows and runs the senders; what it cannot promise, that a task has its effect once, is kept by the ledger of each part. The
run directory must be in a file system that the driver and all executors see, and whose locks exclude.
"""

from __future__ import annotations

from ._check import check
from ._results import results
from ._run import SparkRun, send, verify
from ._run import open_run as open

__all__ = ["SparkRun", "check", "open", "results", "send", "verify"]
