"""The operator of examples/airflow, with Airflow itself, which scripts/lib/test-spark installs into an environment of its own."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from conftest import ROOT, Campaign, Simulator, binary, rows, tokens, wait_until

pytest.importorskip("airflow.sdk")

EXAMPLE = ROOT / "examples" / "airflow"
sys.path.insert(0, str(EXAMPLE))

import good_evening  # noqa: E402
from airflow.sdk import Context  # noqa: E402
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException  # noqa: E402
from apns_batch_operator import ENDINGS, ApnsBatchOperator, Ending  # noqa: E402

Start = Callable[..., Simulator]
Make = Callable[..., Campaign]
CONTEXT = Context()


def operator(*command: object, skip_empty: bool = False) -> ApnsBatchOperator:
    return ApnsBatchOperator(task_id="send", command=list(map(str, command)), skip_empty=skip_empty)


def shell(text: str, skip_empty: bool = False) -> ApnsBatchOperator:
    return operator("sh", "-c", text, skip_empty=skip_empty)


def run_command(campaign: Campaign, count: int) -> tuple[str, ...]:
    """The command for a run of so many rows."""
    path = campaign.path.parent / "rows.csv"
    lines = [f"{row['token']},{row['name']}" for row in rows(count)]
    path.write_text("\n".join(["token,name", *lines]) + "\n")
    return (binary(), "run", str(campaign.path), "--input", str(path), "--run-dir", str(campaign.run_dir))


@pytest.mark.parametrize("code", [2, 64, 126, 127])
def test_codes_that_no_retry_mends(code: int) -> None:
    with pytest.raises(AirflowFailException, match=f"exit code {code}: rows=5"):
        shell(f"echo rows=5; exit {code}").execute(CONTEXT)


@pytest.mark.parametrize("text", ["exit 1", "exit 69", "exit 71", "exit 75", "kill -9 $$", "kill -15 $$"])
def test_codes_that_a_retry_may_mend(text: str) -> None:
    with pytest.raises(AirflowException, match="a retry goes on") as raised:
        shell(text).execute(CONTEXT)
    assert not isinstance(raised.value, (AirflowFailException, AirflowSkipException))


def test_success_has_the_last_line() -> None:
    assert shell("echo ignored=1; echo rows=3 accepted=3").execute(CONTEXT) == {"rows": "3", "accepted": "3"}


def test_the_page_has_all_codes() -> None:
    """Each code of the operator has a line in the table of the page, with what it does."""
    words = {
        Ending.SUCCESS: "succeeds",
        Ending.FAIL: "fails, without a retry",
        Ending.RETRY: "is tried again",
    }
    found: dict[int, str] = {}
    for codes, task in re.findall(
        r"^\| ([\d, ]+) \|.*\| (.*?) \|$", (EXAMPLE / "README.md").read_text(), re.M
    ):
        found |= {int(code): task for code in codes.split(", ")}
    assert found.keys() == ENDINGS.keys()
    assert all(task.startswith(words[ENDINGS[code]]) for code, task in found.items())


def test_a_night(start_simulator: Start, make_campaign: Make) -> None:
    """A task that is killed and tried again: each row is sent once. A further call sends nothing."""
    campaign = make_campaign(start_simulator("answers_per_second: 3000\n"), on_unknown="report")
    command = run_command(campaign, 6000)
    task = operator(*command)

    def end_it() -> None:
        wait_for_results(campaign)
        task.on_kill()

    killer = threading.Thread(target=end_it)
    killer.start()
    with pytest.raises(AirflowException, match="exit code 75; a retry goes on"):
        task.execute(CONTEXT)
    killer.join()
    assert operator(*command).execute(CONTEXT)["accepted"] == "6000"
    assert operator(*command).execute(CONTEXT)["already"] == "complete"
    received = campaign.simulator.received()
    assert set(received) == set(tokens(6000))
    assert {requests for requests, _ in received.values()} == {1}


def wait_for_results(campaign: Campaign) -> None:
    path = campaign.run_dir / "results.csv"
    wait_until(lambda: path.exists() and path.stat().st_size > 10_000, 60)


def test_an_input_without_rows(start_simulator: Start, make_campaign: Make) -> None:
    command = run_command(make_campaign(start_simulator()), 0)
    with pytest.raises(AirflowFailException, match="exit code 2"):
        operator(*command).execute(CONTEXT)
    with pytest.raises(AirflowSkipException):
        operator(*command, skip_empty=True).execute(CONTEXT)


def test_a_wrong_campaign(start_simulator: Start, make_campaign: Make) -> None:
    command = run_command(make_campaign(start_simulator(), template="nowhere.json"), 10)
    with pytest.raises(AirflowFailException, match="exit code 64"):
        operator(*command).execute(CONTEXT)


def test_a_time_limit_ends_the_command(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow raises an error in the operator when the time of a task is over."""

    task = shell(f"echo $$ > {tmp_path}/pid; echo begun; exec sleep 600")

    def limit(_: str, line: str) -> None:
        raise TimeoutError(line)

    monkeypatch.setattr(task.log, "info", limit)
    with pytest.raises(TimeoutError, match="begun"):
        task.execute(CONTEXT)
    assert not pathlib.Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}").exists()


def test_the_dag() -> None:
    """Each task has a directory a night, which Airflow fills in, and may go on for two hours."""
    tasks = {task.task_id: task for task in good_evening.dag.tasks}
    assert set(tasks) == {"send", "send_by_spark"}
    for task in tasks.values():
        assert isinstance(task, ApnsBatchOperator)
        assert task.retries == 24
        task.render_template_fields(Context(ds="2026-11-29"))
        assert task.command[-1].endswith("/good-evening/2026-11-29")
    assert good_evening.dag.catchup is False


def test_the_dag_is_found_by_airflow(tmp_path: pathlib.Path) -> None:
    """Airflow's own list of the folder has the DAG, and no errors of import."""
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__CORE__DAGS_FOLDER": str(EXAMPLE),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    }
    program = (
        "import pathlib; from airflow.dag_processing.dagbag import BundleDagBag; "
        f"bag = BundleDagBag(bundle_path=pathlib.Path({str(EXAMPLE)!r})); "
        "print(sorted(bag.dags), bag.import_errors)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.stdout.strip().splitlines()[-1:] == ["['good_evening'] {}"], done.stderr[-3000:]
