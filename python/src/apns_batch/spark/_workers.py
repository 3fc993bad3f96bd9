"""The Python in which executors run tasks: another one than that of the driver, unless somebody has seen to it."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._errors import ConfigurationError
from .._version import VERSION
from ._tasks import for_each

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VARIABLE = "PYSPARK_PYTHON"

_CAUSES = (
    (r"No module named '([\w.]+)'", "has no module {}"),
    (r"Cannot run program \"?([^\"\s]+)", "was not found: {}"),
    (r"(PYTHON_VERSION_MISMATCH)", "is of another version than that of the driver: {}"),
)


def check_workers(spark: SparkSession) -> None:
    """Makes sure, with a task, that executors have this package. Without a cluster, they run the Python of this program from now on.

    :raises ConfigurationError: They have not, or another version of it. Its text says what to do.
    """
    use_this_python(spark)
    try:
        found = for_each(spark, 1, _version, "the Python of the executors")
    except Exception as error:
        explained = explanation(error)
        if explained is None:
            raise
        raise explained from error
    if found != [VERSION]:
        raise ConfigurationError(
            f"executors have version {found[0]} of apns_batch, and the driver has {VERSION}: install the same on both"
        )


def use_this_python(spark: SparkSession) -> None:
    """With a local master, lets workers run the Python of this program, unless PYSPARK_PYTHON names one.

    Spark would take `python3` of PATH, which is not that of a virtual environment that is not activated.
    """
    master = spark.conf.get("spark.master", "") or ""
    if not master.startswith("local") or os.environ.get(VARIABLE) or _is_remote(spark):
        return
    spark.sparkContext.pythonExec = sys.executable


def explanation(error: Exception) -> ConfigurationError | None:
    """Returns what to do about the failure of a task, if the Python of its executor is the cause; otherwise None."""
    text = str(error)
    for pattern, cause in _CAUSES:
        if found := re.search(pattern, text):
            return ConfigurationError(
                f"the Python of the executors, {os.environ.get(VARIABLE) or 'python3 of their PATH'}, {cause.format(found[1])}. "
                f"Before the session is made, set {VARIABLE} to a Python that has apns_batch, pyarrow and pandas, with the same path on "
                f"all executors, or send them an environment with spark.archives (docs/integrate/spark.md, Python of the executors). "
                f"This program runs {sys.executable}. No row was frozen or sent"
            )
    return None


def _is_remote(spark: SparkSession) -> bool:
    """Whether the session is one of Spark Connect, whose server says which Python runs."""
    return "connect" in type(spark).__module__


def _version(_: int) -> Iterator[str]:
    yield VERSION
