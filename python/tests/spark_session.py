"""The session of Spark that tests share: a plugin of the tests that need one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conftest import ROOT
from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session for all tests of a process that need no other one."""
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.shuffle.partitions", "2")
        # Neither the zone of the session nor that of the machine shows in a time.
        .config("spark.sql.session.timeZone", "Pacific/Auckland")
        .config("spark.executorEnv.PYTHONPATH", str(ROOT / "python" / "src"))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
