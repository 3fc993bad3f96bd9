"""Rows that are sent through Spark Connect."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest
from conftest import Campaign, Program, Simulator, tokens

for module in ("pyspark", "grpc", "grpc_status", "google.rpc", "zstandard"):
    pytest.importorskip(module)
pytestmark = pytest.mark.spark

Start = Callable[..., Simulator]
Make = Callable[..., Campaign]
Run = Callable[..., Program]


def test_spark_connect(
    start_simulator: Start, make_campaign: Make, start_program: Run, tmp_path: pathlib.Path
) -> None:
    campaign = make_campaign(start_simulator(), result_columns=["name"])
    with open(tmp_path / "log", "w") as log:
        program = start_program("connect", campaign, log=log, rows=3000, senders=2, parts=5)
        result = program.result()
    assert result["client"] == "pyspark.sql.connect.session"
    assert (result["accepted"], result["read"], result["names"]) == (3000, 3000, 3000)
    assert (result["sound"], result["again"]) == (True, True)
    assert result["checked"].startswith("the first 2 rows were looked at\n")
    assert campaign.simulator.received() == dict.fromkeys(tokens(3000), (1, 1))
    # Spark says nothing about the names in the header rows of results.
    assert "CSVHeaderChecker" not in (tmp_path / "log").read_text()
