"""Results as a DataFrame, of runs whose files are not all as they are at the end of a run."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Campaign, Simulator, rows, tokens

import apns_batch

pytest.importorskip("pyspark")
from pyspark.sql import SparkSession

from apns_batch import spark as apns

pytest_plugins = ["spark_session"]
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("one session")]

Start = Callable[..., Simulator]
Make = Callable[..., Campaign]


@pytest.fixture
def run_dir(start_simulator: Start, make_campaign: Make, tmp_path: pathlib.Path) -> pathlib.Path:
    """A run in three parts that is complete, below a path with the characters of patterns."""
    campaign = make_campaign(start_simulator(), result_columns=["name"])
    path = tmp_path / "nights [1]" / "a*b?c" / "run\\d"
    apns_batch.run(rows(30), campaign=campaign.path, run_dir=path, parts=3)
    return path


def file_of(run_dir: pathlib.Path, part: int) -> pathlib.Path:
    return run_dir / "parts" / f"{part:05}" / "results.csv"


def found_in(spark: SparkSession, run_dir: pathlib.Path) -> dict[str, Any]:
    """The name of each row by its token."""
    lines = apns.results(spark, run_dir).collect()
    assert {line.outcome for line in lines} == {"accepted"}
    assert {line.attempts for line in lines} == {1}
    return {line.token: line.name for line in lines}


def test_a_path_is_no_pattern(spark: SparkSession, run_dir: pathlib.Path) -> None:
    expected = {token: f"somebody {number}" for number, token in enumerate(tokens(30), 1)}
    assert found_in(spark, run_dir) == expected


@pytest.mark.parametrize("left", [0, 5])
def test_a_part_without_a_header_has_no_results(
    spark: SparkSession, run_dir: pathlib.Path, left: int
) -> None:
    path = file_of(run_dir, 0)
    others = 30 - (path.read_bytes().count(b"\n") - 1)
    path.write_bytes(path.read_bytes()[:left])
    found = found_in(spark, run_dir)
    assert len(found) == others
    assert all(name.startswith("somebody") for name in found.values())


def test_a_line_that_was_cut_off_is_none(spark: SparkSession, run_dir: pathlib.Path) -> None:
    path = file_of(run_dir, 1)
    lines = path.read_bytes().splitlines(keepends=True)
    for field in range(1, 9):
        cut = b",".join(lines[-1].split(b",")[:field])
        path.write_bytes(b"".join(lines[:-1]) + cut)
        assert len(found_in(spark, run_dir)) == 29
        assert apns.results(spark, run_dir).select("outcome").where("outcome is null").count() == 0
        assert apns.results(spark, run_dir).count() == 29
    assert len(list(apns_batch.results(run_dir))) == 29


def test_damaged_results(spark: SparkSession, run_dir: pathlib.Path) -> None:
    path = file_of(run_dir, 0)
    path.write_bytes(path.read_bytes()[4:])
    with pytest.raises(apns_batch.StorageError, match="does not name the columns of results"):
        apns.results(spark, run_dir)


def test_a_part_that_is_a_link(spark: SparkSession, run_dir: pathlib.Path, tmp_path: pathlib.Path) -> None:
    part = run_dir / "parts" / "00002"
    part.symlink_to(part.rename(tmp_path / "elsewhere"))
    whole = tmp_path / "link"
    whole.symlink_to(run_dir)
    for directory in (run_dir, whole):
        frame = apns.results(spark, directory)
        assert {line.part for line in frame.select("part").distinct().collect()} == {0, 1, 2}
        assert apns_batch.open(directory).status().is_complete
        assert apns_batch.verify(directory).is_complete


def test_a_text_with_a_nul(spark: SparkSession, start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), result_columns=["user_id", "city"])
    given = [
        (token, "a\0b" if number == 3 else "x", number, "c") for number, token in enumerate(tokens(6), 1)
    ]
    frame = spark.createDataFrame(given, "token string, name string, user_id int, city string")
    run = apns.send(frame, campaign=campaign.path, run_dir=campaign.run_dir, parts=1)
    (invalid,) = run.results.where("outcome = 'invalid'").collect()
    assert (invalid.token, invalid.user_id, invalid.city) == (tokens(6)[2], "3", "c")
    assert invalid.reason == "name: expected a text, found a NUL at character 2"
    assert (run.summary.accepted, run.summary.invalid) == (5, 1)
