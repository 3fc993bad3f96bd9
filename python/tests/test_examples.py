"""The programs of examples/spark, as their page says: in a virtual environment that is not activated."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from conftest import ROOT, Simulator, binary, tokens

import apns_batch
from apns_batch._errors import ConfigurationError

pytest.importorskip("pyspark")
pytestmark = pytest.mark.spark

GONE = "rules: [{ share: 0.02, status: 410, reason: Unregistered }]\n"
SOURCE = pathlib.Path(apns_batch.__file__).parents[1]


@dataclass
class Folder:
    """A copy of examples/spark, with a folder `venv` that has all that its page installs."""

    path: pathlib.Path

    def run(self, *command: object, **more: str) -> subprocess.CompletedProcess[str]:
        """Runs a command in the folder, with a PATH whose python3 is another one, and without variables that name one."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in {"PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "VIRTUAL_ENV"}
        }
        environment |= {"PATH": f"{self.path / 'other'}:/usr/bin:/bin", "APNS_BATCH": binary(), **more}
        return subprocess.run(
            list(map(str, command)),
            check=False,
            capture_output=True,
            text=True,
            env=environment,
            cwd=self.path,
        )

    def output(self, *command: object) -> str:
        done = self.run(*command)
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout


def bare_environment(path: pathlib.Path, *sources: str) -> None:
    """Makes a virtual environment that finds modules in some folders."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", path], check=True)
    packages = path / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (packages / "tests.pth").write_text("\n".join(sources) + "\n")


@pytest.fixture
def folder(start_simulator: Callable[..., Simulator], tmp_path: pathlib.Path) -> tuple[Folder, Simulator]:
    simulator = start_simulator(GONE)
    path = tmp_path / "spark"
    shutil.copytree(ROOT / "examples" / "spark", path)
    campaign = (path / "campaign.yaml").read_text()
    campaign = campaign.replace("localhost:2197", f"127.0.0.1:{simulator.port}")
    (path / "campaign.yaml").write_text(campaign.replace("simulator/", f"{simulator.directory}/"))
    installed = sysconfig.get_path("purelib")
    bare_environment(path / "venv", installed, str(SOURCE))
    # python3 of PATH: it has what Spark asks for, and not this package.
    bare_environment(path / "without", installed)
    (path / "other").mkdir()
    (path / "other" / "python3").symlink_to(path / "without" / "bin" / "python3")
    return Folder(path), simulator


def commands_of_the_page(folder: Folder, tmp_path: pathlib.Path) -> list[str]:
    """The lines of the page that run the programs, with their directories below that of the test."""
    page = (folder.path / "README.md").read_text()
    found = re.findall(r"^ {4}((?:venv/bin/python|mkdir|echo) .*)$", page, re.MULTILINE)
    assert len(found) >= 4, page
    return [line.replace("/tmp/", f"{tmp_path}/") for line in found]  # noqa: S108


def test_the_commands_of_the_page(folder: tuple[Folder, Simulator], tmp_path: pathlib.Path) -> None:
    spark, simulator = folder
    said = [spark.output("bash", "-euc", line) for line in commands_of_the_page(spark, tmp_path)]
    assert "of 20000 rows accepted, 0 left" in "".join(said)
    assert "batch 0: 1 of 1 rows accepted" in "".join(said)
    received = simulator.received()
    assert len(received) == 20_001
    assert {requests for requests, _ in received.values()} == {1}


def test_the_examples_again(folder: tuple[Folder, Simulator], tmp_path: pathlib.Path) -> None:
    """Started again, they send nothing twice; a stream without its checkpoint is another query, and sends its rows."""
    spark, simulator = folder
    said = spark.output("venv/bin/python", "send.py", tmp_path / "tonight", 5000)
    assert spark.output("venv/bin/python", "send.py", tmp_path / "tonight", 5000) == said
    orders, state = tmp_path / "orders", tmp_path / "state"
    orders.mkdir()
    for number, token in enumerate(tokens(3, 10_000), 1):
        (orders / f"{number}.json").write_text(json.dumps({"token": token, "user_id": number}) + "\n")
    stream = ("venv/bin/python", "stream.py", orders, state)
    assert "of 3 rows accepted" in spark.output(*stream)
    assert spark.output(*stream) == ""
    shutil.rmtree(state / "checkpoint")
    assert "of 3 rows accepted" in spark.output(*stream)
    received = simulator.received()
    assert set(received) == set(tokens(5000)) | set(tokens(3, 10_000))
    counts = {token: requests for token, (requests, _) in received.items()}
    assert {counts[token] for token in tokens(5000)} == {1}
    assert {counts[token] for token in tokens(3, 10_000)} == {2}


CHECK = """
import sys
from pyspark.sql import SparkSession
from apns_batch import ConfigurationError
from apns_batch.spark._workers import check_workers

spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
try:
    check_workers(spark)
except ConfigurationError as error:
    sys.exit(f"refused: {error}")
print("workers have it")
"""


def test_workers_without_the_package(folder: tuple[Folder, Simulator]) -> None:
    """A local master gets the Python of the program; one that PYSPARK_PYTHON names is taken, and refused if it has no package."""
    spark, _ = folder
    (spark.path / "check.py").write_text(CHECK)
    master = {"MASTER": "local[1]", "SPARK_LOCAL_IP": "127.0.0.1"}
    assert "workers have it" in spark.run("venv/bin/python", "check.py", **master).stdout
    for named, cause in (
        (spark.path / "without" / "bin" / "python3", "has no module apns_batch"),
        (spark.path / "nowhere", "was not found"),
    ):
        refused = spark.run("venv/bin/python", "check.py", PYSPARK_PYTHON=str(named), **master)
        assert refused.returncode == 1
        last = refused.stderr.strip().splitlines()[-1]
        assert last.startswith(f"refused: the Python of the executors, {named}, {cause}"), refused.stderr[
            -3000:
        ]
        assert "set PYSPARK_PYTHON" in last
        assert "spark.archives" in last


def test_nothing_is_frozen_for_workers_without_the_package(
    folder: tuple[Folder, Simulator], tmp_path: pathlib.Path
) -> None:
    spark, simulator = folder
    without = str(spark.path / "without" / "bin" / "python3")
    done = spark.run("venv/bin/python", "send.py", tmp_path / "tonight", 10, PYSPARK_PYTHON=without)
    assert done.returncode == 64
    assert f"send.py: the Python of the executors, {without}, has no module apns_batch" in done.stderr
    assert not (tmp_path / "tonight" / "input").exists()
    assert simulator.received() == {}


def test_exit_codes_of_the_example(folder: tuple[Folder, Simulator], tmp_path: pathlib.Path) -> None:
    """An error of the package is a code that a scheduler can act on, and its message."""
    spark, _ = folder
    (spark.path / "template.json").unlink()
    done = spark.run("venv/bin/python", "send.py", tmp_path / "tonight", 10)
    assert done.returncode == 64
    assert "send.py: " in done.stderr


def test_explanation_of_other_errors() -> None:
    from apns_batch.spark._workers import explanation  # noqa: PLC0415

    assert explanation(ValueError("disk full")) is None
    assert isinstance(explanation(ValueError("No module named 'pyarrow'")), ConfigurationError)
