"""A run is where it was begun: other calls with the same directory, other nights, and what can be done with a run afterwards."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pathlib
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from conftest import (
    Campaign,
    Program,
    Simulator,
    check_policy,
    results_of,
    rows,
    senders_of,
    tokens,
    wait_until,
)

import apns_batch
from apns_batch._begun import begun_run
from apns_batch._campaign import Campaign as CampaignFile
from apns_batch._driver import Driver
from apns_batch._faults import Fault
from apns_batch._layout import RunLayout
from apns_batch._manifest import Manifest, Part, Settled
from apns_batch._options import Options
from apns_batch._place import Place, lock_text
from apns_batch._plan import Plan, warn_of_few_slots
from apns_batch._proof import Proof
from apns_batch._sender import SenderTask, send_parts
from apns_batch._storage import driver_lock

Start = Callable[..., Simulator]
Make = Callable[..., Campaign]
Run = Callable[..., Program]

SLOW = "answers_per_second: 3000\n"


def sent(campaign: Campaign, count: int, **arguments: Any) -> apns_batch.Run:
    given = {"run_dir": campaign.run_dir, **arguments}
    return apns_batch.run(rows(count), campaign=campaign.path, **given)


def test_a_run_is_continued_in_another_night(
    start_simulator: Start, make_campaign: Make, start_program: Run, monkeypatch: Any
) -> None:
    campaign = make_campaign(start_simulator(SLOW), run_dir="runs/{campaign}/{date}", name="evening")
    above = campaign.path.parent / "runs" / "evening"
    arguments: dict[str, Any] = {
        "rows": 9000,
        "senders": 2,
        "parts": 4,
        "on_unknown": "report",
        "run_dir": None,
    }
    # 26 hours lie between the two zones, so that the date is another one whatever the time is.
    monkeypatch.setenv("TZ", "Etc/GMT-14")
    first = start_program("local", campaign, **arguments)
    wait_until(lambda: sum(results_of(path).total() for path in above.glob("*")) > 1000)
    first.kill()
    (run_dir,) = above.iterdir()
    wait_until(lambda: not senders_of(run_dir), 4)
    # A later night, and an earlier one.
    monkeypatch.setenv("TZ", "Etc/GMT+12")
    assert start_program("local", campaign, **arguments).result()["rows"] == 9000
    assert [path.name for path in above.iterdir()] == [run_dir.name]
    check_policy(replace(campaign, run_dir=run_dir), 9000, "report")
    manifest = Manifest.read(RunLayout.of(run_dir))
    assert manifest.settled.night == run_dir.name
    assert manifest.settled.pattern == str(above / "{date}")


def test_a_complete_run_does_not_stand_in_for_the_next_night(
    start_simulator: Start, make_campaign: Make, monkeypatch: Any
) -> None:
    campaign = make_campaign(start_simulator())
    pattern = str(campaign.path.parent / "{campaign}-{date}")
    runs = []
    for zone in ("Etc/GMT-14", "Etc/GMT+12"):
        monkeypatch.setenv("TZ", zone)
        runs.append(sent(campaign, 20, run_dir=pattern))
    assert [run.was_complete for run in runs] == [False, False]
    assert runs[0].run_dir != runs[1].run_dir
    assert {requests for requests, _ in campaign.simulator.received().values()} == {2}


def test_runs_of_other_nights(tmp_path: pathlib.Path, caplog: Any) -> None:
    place = Place(RunLayout.of(tmp_path / "runs-2026-11-29"), str(tmp_path / "runs-{date}"))
    content = Manifest(
        "0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f10", "x", "2026-11-28T00:00:00Z", "", (Part(0, "", 1, 1),)
    )

    def begun(night: str, run_key: str | None = None) -> RunLayout:
        layout = RunLayout.of(tmp_path / f"runs-{night}")
        layout.part(0).mkdir(parents=True)
        (layout.part(0) / "ledger").touch()
        replace(content, settled=Settled(run_key=run_key)).write(layout)
        return layout

    older, newer, keyed, complete = (
        *(begun("2026-11-20"), begun("2026-11-30"), begun("2026-11-21", "a"), begun("2026-11-22")),
    )
    complete.complete.touch()
    sent_with_key = begun("2026-11-19", "c")
    sent_with_key.complete.touch()
    assert place.same_runs("x", "c") == [sent_with_key]
    broken = begun("2026-11-25")
    broken.manifest.write_text("{")
    assert place.same_runs("x", None) == [older, newer]
    assert f"{broken.root}: this directory of another night cannot be read" in caplog.text
    with pytest.raises(apns_batch.ConfigurationError, match="this is not the manifest of a run"):
        begun_run(broken)
    unsent = begun("2026-11-23")
    (unsent.part(0) / "ledger").unlink()
    (tmp_path / "runs-2026-11-24").mkdir()
    (tmp_path / "runs-yesterday").mkdir()
    assert place.same_runs("x", None) == [older, newer]
    assert place.same_runs("x", "a") == [keyed]
    assert place.same_runs("y", None) == []
    assert Place(place.layout).same_runs("x", None) == []
    # A program that freezes at the moment.
    freezing = RunLayout.of(tmp_path / "runs-2026-11-24")
    with driver_lock(freezing.lock, 0):
        freezing.lock.write_text(lock_text("x", "b"))
        assert place.same_runs("x", "b") == [freezing]
        assert freezing not in place.same_runs("x", None)


def test_a_complete_run_says_that_it_is(start_simulator: Start, make_campaign: Make, caplog: Any) -> None:
    simulator = start_simulator()
    campaign = make_campaign(simulator)
    first = sent(campaign, 30, run_key="monday")
    with caplog.at_level(logging.WARNING):
        again = sent(campaign, 99, run_key="monday")
    assert (first.was_complete, again.was_complete) == (False, True)
    assert again.summary == first.summary
    assert "nothing is sent, and none of the rows given" in caplog.text
    for other, text in (
        ({"run_key": "tuesday"}, "run_key='monday' instead of 'tuesday'"),
        ({"expect_rows": 99}, "30 rows, and expect_rows=99"),
        ({"settings": {"priority": 5}}, "another campaign"),
    ):
        with pytest.raises(apns_batch.ConfigurationError, match=f"is complete, .*{text}"):
            sent(campaign, 99, **other)
    (campaign.path.parent / "template.json").write_text('{"aps":{"alert":"Bye, {{name}}"}}')
    with pytest.raises(apns_batch.ConfigurationError, match=r"is complete, .*another campaign"):
        sent(campaign, 30)
    assert {requests for requests, _ in simulator.received().values()} == {1}
    assert len(results_of(campaign.run_dir)) == 30


def test_what_was_not_sent_can_be_corrected(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    key = next(campaign.simulator.directory.glob("*.p8"))
    key.rename(key.with_suffix(".away"))
    with pytest.raises(apns_batch.ApnsBatchError):
        sent(campaign, 500)
    key.with_suffix(".away").rename(key)
    sent(campaign, 0, allow_empty=True, settings={"priority": 5})
    run = sent(campaign, 40, settings={"priority": 10})
    assert (run.summary.accepted, run.was_complete) == (40, False)
    assert set(campaign.simulator.received()) == set(tokens(40))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"expect_rows": 21}, "expect_rows=21: there are 20 rows"),
        ({"settings": {"min_rows": 21}}, "min_rows: 21 rows are the least, and there are 20"),
    ],
)
def test_too_few_rows_are_not_sent(
    start_simulator: Start, make_campaign: Make, arguments: dict[str, Any], text: str
) -> None:
    campaign = make_campaign(start_simulator())
    with pytest.raises(apns_batch.ConfigurationError, match=text):
        sent(campaign, 20, **arguments)
    assert not (campaign.run_dir / "manifest.json").exists()
    assert not (campaign.run_dir / "input").exists()
    assert sent(campaign, 21, **arguments).summary.accepted == 21


def test_settings_are_left_out(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), expect=["accepted >= 95%"])
    with pytest.raises(apns_batch.ConfigurationError, match=r"settings=\{'expect': None\}"):
        sent(campaign, 20)
    assert sent(campaign, 20, settings={"expect": None}).summary.accepted == 20


def test_settings_that_hold_for_the_whole(start_simulator: Start, make_campaign: Make) -> None:
    script = "rules: [{ share: 1.0, status: 400, reason: BadDeviceToken }]\n"
    campaign = make_campaign(
        start_simulator(script), canary=50, canary_max_rejected="1%", not_after="2h", spread="10s"
    )
    with pytest.raises(apns_batch.SendingStoppedError):
        sent(campaign, 3000, senders=2)
    manifest = Manifest.read(RunLayout.of(campaign.run_dir))
    settled = manifest.settled
    assert (settled.canary, settled.canary_max_rejected, settled.spread_seconds) == (50, 1, 10)
    assert settled.not_after is not None
    time.sleep(1.1)
    with pytest.raises(apns_batch.SendingStoppedError):
        sent(campaign, 3000, senders=2)
    # A later start has no later end.
    assert Manifest.read(RunLayout.of(campaign.run_dir)) == manifest
    assert 1 <= len(campaign.simulator.received()) <= 200


def test_what_is_settled_is_said_to_each_part(tmp_path: pathlib.Path) -> None:
    layout = RunLayout.of(tmp_path)
    parts = tuple(Part(number, "", 10 * number, 9 + number) for number in range(4))
    settled = Settled(not_after="2026-11-30T05:00:00Z", canary=7, canary_max_rejected=2.5)
    manifest = Manifest("0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f10", "x", "", "", parts, settled)
    # Part 2 is complete.
    plan = Plan(layout, manifest, Options(senders=8), 100, True, {0: 1, 1: 1, 3: 2})
    (canary, alone), (rest, senders) = plan.stages(Proof("", ""))
    assert ([task.part.part for task in canary.parts], alone) == ([0], 1)
    assert "--canary 7 --canary-max-rejected 2.5%" in " ".join(canary.parts[0].flags)
    # The part with most rows left is taken first.
    assert ([task.part.part for task in rest.parts], senders) == ([3, 1], 2)
    for task in (*canary.parts, *rest.parts):
        assert "--not-after 2026-11-30T05:00:00Z" in " ".join(task.flags)
    assert "--canary" not in rest.parts[0].flags


def test_the_limit_of_a_canary_is_that_of_its_part(start_simulator: Start, make_campaign: Make) -> None:
    script = "rules: [{ share: 1.0, status: 400, reason: BadDeviceToken }]\n"
    campaign = make_campaign(start_simulator(script), canary=1000, canary_max_rejected="1%")
    # Each part has some five rows, and one in a hundred of 1,000 would be ten.
    for _ in range(2):
        with pytest.raises(apns_batch.SendingStoppedError, match="canary"):
            sent(campaign, 200, parts=40)
    first = Manifest.read(RunLayout.of(campaign.run_dir)).parts[0]
    assert len(campaign.simulator.received()) <= first.rows < 20


def test_a_canary_that_failed_is_tried_again_by_each_start(
    start_simulator: Start, make_campaign: Make
) -> None:
    script = "rules: [{ share: 1.0, status: 400, reason: BadDeviceToken }]\n"
    campaign = make_campaign(start_simulator(script))
    ended: list[int] = []
    for _ in range(3):
        with pytest.raises(apns_batch.SendingStoppedError, match="canary") as stopped:
            sent(campaign, 500, parts=2, canary=20)
        assert stopped.value.exit_code == 69
        ended.append(results_of(campaign.run_dir).total())
    assert all(0 < now - before <= 20 for before, now in zip([0, *ended], ended, strict=False))


def test_a_canary_stops_the_rest_without_a_file(
    start_simulator: Start, make_campaign: Make, monkeypatch: Any
) -> None:
    script = "rules: [{ share: 1.0, status: 400, reason: BadDeviceToken }]\n"
    campaign = make_campaign(start_simulator(script), canary=5)
    # As on a disk that is full or can only be read.
    monkeypatch.setattr("apns_batch._part.stop_all", lambda *_: None)
    with pytest.raises(apns_batch.SendingStoppedError, match="canary"):
        sent(campaign, 200, parts=10)
    assert len(campaign.simulator.received()) <= Manifest.read(RunLayout.of(campaign.run_dir)).parts[0].rows


def test_files_of_something_else_with_our_names_are_left_alone(
    start_simulator: Start, make_campaign: Make
) -> None:
    campaign = make_campaign(start_simulator())
    others = [campaign.run_dir / name / "mine.txt" for name in ("campaign", "input", "parts")]
    for path in others:
        path.parent.mkdir(parents=True)
        path.touch()
    for _ in range(2):
        with pytest.raises(apns_batch.ConfigurationError, match="holds no run in parts"):
            sent(campaign, 10)
    assert all(path.exists() for path in others)


@pytest.mark.parametrize("removed", [("parts",), ("parts", "manifest.json")])
def test_a_complete_run_without_its_parts_is_not_sent_again(
    start_simulator: Start, make_campaign: Make, removed: tuple[str, ...]
) -> None:
    campaign = make_campaign(start_simulator())
    sent(campaign, 20)
    for name in removed:
        (campaign.run_dir / name).rename(campaign.path.parent / name)
    with pytest.raises(apns_batch.ConfigurationError, match="missing"):
        sent(campaign, 20)
    assert set(campaign.simulator.received().values()) == {(1, 1)}


def test_a_start_is_stopped_by_no_earlier_one(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("local", campaign, rows=9000)
    wait_until(lambda: results_of(campaign.run_dir).total() > 100)
    # A sender on another machine, whose program was killed before this start.
    task = SenderTask(str(campaign.run_dir), (), 1, None, Proof(str(campaign.run_dir), "earlier"))
    (fault,) = send_parts("apns-batch", task, lambda: False)
    assert isinstance(fault, Fault)
    assert "reads another file" in fault.text
    assert program.result()["accepted"] == 9000


def test_a_stop_before_the_first_push_is_heard(
    start_simulator: Start, make_campaign: Make, start_program: Run, monkeypatch: Any
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("local", campaign, rows=9000)
    wait_until(lambda: results_of(campaign.run_dir).total() > 100)
    program.kill()
    wait_until(lambda: not senders_of(campaign.run_dir), 4)
    left = Driver._plan

    def asked(driver: Driver, *arguments: Any) -> Plan:
        apns_batch.open(campaign.run_dir).control("stop")
        return left(driver, *arguments)

    monkeypatch.setattr(Driver, "_plan", asked)
    assert 0 < sent(campaign, 0).summary.left < 9000
    monkeypatch.undo()
    assert sent(campaign, 0).summary.left == 0


def test_an_opened_run_keeps_what_was_said_of_unknown_rows(
    start_simulator: Start, make_campaign: Make, monkeypatch: Any
) -> None:
    script = "rules: [{ share: 0.5, status: 503, reason: Shutdown, times: 1 }]\n"
    campaign = make_campaign(start_simulator(script), attempts=1)
    sent(campaign, 40, parts=1, on_unknown="report")
    flags: list[tuple[str, ...]] = []
    stages = Plan.stages

    def seen(plan: Plan, proof: Proof) -> Any:
        for task, senders in stages(plan, proof):
            flags.extend(part.flags for part in task.parts)
            yield task, senders

    monkeypatch.setattr(Plan, "stages", seen)
    apns_batch.open(campaign.run_dir).retry_unavailable(campaign=campaign.path)
    assert "--on-unknown report" in " ".join(flags[0])


def test_few_slots_are_said(caplog: Any) -> None:
    warn_of_few_slots(4, 2, 1000)
    assert "2 tasks can run at the same time, and senders=4" in caplog.text
    assert "share the rate of 1000/s" in caplog.text
    caplog.clear()
    warn_of_few_slots(4, 4, None)
    warn_of_few_slots(4, None, None)
    assert caplog.text == ""


def test_unavailable_rows_are_sent_again(start_simulator: Start, make_campaign: Make) -> None:
    script = "rules: [{ share: 0.3, status: 503, reason: Shutdown, times: 1 }]\n"
    campaign = make_campaign(start_simulator(script), attempts=1)
    run = sent(campaign, 400, senders=2, parts=4)
    unavailable = run.summary.unavailable
    assert 60 < unavailable < 200
    opened = apns_batch.open(campaign.run_dir)
    assert opened.summary == run.summary
    with pytest.raises(apns_batch.ConfigurationError, match="name the campaign"):
        opened.retry_unavailable()
    again = run.retry_unavailable()
    assert (again.summary.accepted, again.summary.unavailable, again.was_complete) == (400, 0, False)
    assert opened.retry_unavailable(campaign=campaign.path).was_complete
    assert (campaign.run_dir / "_COMPLETE").exists()
    assert apns_batch.verify(campaign.run_dir).is_sound
    received = campaign.simulator.received()
    # A connection with many such answers is replaced, and what was in flight there is sent again.
    assert sum(requests for requests, _ in received.values()) >= 400 + unavailable
    assert {accepted for _, accepted in received.values()} == {1}


def test_unavailable_rows_need_the_settings_of_their_run(start_simulator: Start, make_campaign: Make) -> None:
    script = "rules: [{ share: 0.5, status: 503, reason: Shutdown, times: 1 }]\n"
    campaign = make_campaign(start_simulator(script), attempts=1)
    run = sent(campaign, 60, settings={"priority": 5})
    unavailable = run.summary.unavailable
    assert unavailable > 0
    with pytest.raises(
        apns_batch.ConfigurationError, match="give retry_unavailable the campaign and the settings"
    ):
        apns_batch.open(campaign.run_dir).retry_unavailable(campaign=campaign.path)
    with pytest.raises(apns_batch.ConfigurationError, match="with other settings of it"):
        run.retry_unavailable(settings={"priority": 10})
    again = apns_batch.open(campaign.run_dir).retry_unavailable(
        campaign=campaign.path, settings={"priority": 5}
    )
    assert (again.summary.unavailable, run.summary.unavailable) == (0, unavailable)


@pytest.mark.parametrize("by_language", [False, True])
def test_unavailable_rows_of_a_run_that_was_moved(
    start_simulator: Start, make_campaign: Make, by_language: bool
) -> None:
    script = "rules: [{ share: 0.5, status: 503, reason: Shutdown, times: 1 }]\n"
    more: dict[str, object] = {"template": None, "templates": {"en": "template.json"}, "fallback": "en"}
    campaign = make_campaign(start_simulator(script), attempts=1, **(more if by_language else {}))
    given = [{**row, "locale": "en"} for row in rows(60)]
    run = apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir, parts=2)
    assert run.summary.unavailable > 0
    moved = campaign.run_dir.rename(campaign.path.parent / "moved")
    again = apns_batch.open(moved).retry_unavailable(campaign=campaign.path)
    assert (again.summary.accepted, again.summary.unavailable) == (60, 0)


def test_rows_with_other_columns_are_refused(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    arguments: dict[str, Any] = {"campaign": campaign.path, "run_dir": campaign.run_dir}
    given: list[dict[str, Any]] = [{**row, "collapse_id": "x"} for row in rows(20)]
    # A key that some rows lack says nothing: other rows may come first in the next call.
    given[3]["push_type"] = "alert"
    apns_batch.run(given, **arguments)
    # Nothing uses a city.
    for more in ({"collapse_id": "x"}, {"collapse_id": "y", "push_type": "alert", "city": "Rome"}):
        assert apns_batch.run([{**row, **more} for row in rows(20)], **arguments).was_complete
    message = (
        r"is complete, and was sent with other columns \(column priority is new, column collapse_id is gone\)"
    )
    with pytest.raises(apns_batch.ConfigurationError, match=message):
        apns_batch.run([{**row, "priority": 5} for row in rows(20)], **arguments)
    assert sent(campaign, 0, allow_empty=True).was_complete
    assert {requests for requests, _ in campaign.simulator.received().values()} == {1}


def test_a_frame_with_other_columns_is_refused(start_simulator: Start, make_campaign: Make) -> None:
    pd: Any = pytest.importorskip("pandas")
    pl: Any = pytest.importorskip("polars")
    pa: Any = pytest.importorskip("pyarrow")
    campaign = make_campaign(start_simulator(), result_columns=["x"])
    given = {**{name: [row[name] for row in rows(5)] for name in ("token", "name")}, "x": [1.5] * 5}
    given["unused"] = [True] * 5
    whole = {**given, "x": [1] * 5}
    for package, message in (
        # In pandas, a value that is missing makes another type of a column.
        (pd.DataFrame, None),
        (pl.DataFrame, r"other columns \(column x was Float64 and is Int64\)"),
        (pa.table, r"other columns \(column x was double and is int64\)"),
    ):
        run_dir = campaign.path.parent / package.__module__.partition(".")[0]
        arguments: dict[str, Any] = {"campaign": campaign.path, "run_dir": run_dir}
        apns_batch.run(package(given), **arguments)
        # Their order makes no difference.
        other = package({name: given[name] for name in ("x", "name", "token")} | {"more": ["y"] * 5})
        assert apns_batch.run(other, **arguments).was_complete
        if message is None:
            assert apns_batch.run(package(whole), **arguments).was_complete
        else:
            with pytest.raises(apns_batch.ConfigurationError, match=message):
                apns_batch.run(package(whole), **arguments)
        with pytest.raises(apns_batch.ConfigurationError, match='no column "x"'):
            apns_batch.run(package({name: given[name] for name in ("token", "name")}), **arguments)
    # Each package has names of its own for the same types.
    arguments = {"campaign": campaign.path, "run_dir": campaign.path.parent / "polars"}
    assert apns_batch.run(pa.table(whole), **arguments).was_complete
    large = {
        "x": pa.array([1.5] * 5),
        "token": pa.array(given["token"], pa.large_string()),
        "name": given["name"],
    }
    arguments["run_dir"] = campaign.path.parent / "pyarrow"
    assert apns_batch.run(pa.table(large), **arguments).was_complete


def test_a_campaign_without_credentials_freezes_nothing(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    settings: dict[str, object] = {"key_file": None, "key_id": None, "team_id": None}
    with pytest.raises(apns_batch.ConfigurationError, match="leave out the credentials: name key_file"):
        sent(campaign, 5, settings=settings)
    assert (
        "leave out the credentials"
        in apns_batch.check(rows(5), campaign=campaign.path, settings=settings).faults[0]
    )
    next(campaign.simulator.directory.glob("*.p8")).unlink()
    with pytest.raises(apns_batch.ConfigurationError, match=r"\.p8"):
        sent(campaign, 5)
    assert not (campaign.run_dir / "input").exists()


def test_the_campaign_has_the_lanes(start_simulator: Start, make_campaign: Make, monkeypatch: Any) -> None:
    campaign = make_campaign(start_simulator(), lanes=2, connections=4)
    flags: list[str] = []
    stages = Plan.stages

    def seen(plan: Plan, proof: Proof) -> Any:
        for task, senders in stages(plan, proof):
            flags.append(" ".join(task.parts[0].flags))
            assert f"--lanes {task.lanes}" in flags[-1]
            yield task, senders

    monkeypatch.setattr(Plan, "stages", seen)
    sent(campaign, 20, parts=1)
    sent(campaign, 20, parts=1, lanes=1, run_dir=campaign.path.parent / "other")
    assert "--lanes 2 --connections 4" in flags[0]
    assert "--lanes 1 --connections 8" in flags[1]


@pytest.mark.parametrize(
    "case", [(None, "none", False), (None, None, True), (True, "none", True), (False, None, False)]
)
def test_a_report_is_made_if_it_is_wanted(
    start_simulator: Start, make_campaign: Make, monkeypatch: Any, case: tuple[bool | None, str | None, bool]
) -> None:
    wanted, said, makes = case
    campaign = make_campaign(start_simulator())
    plan = Driver._plan

    def planned(driver: Driver, layout: RunLayout, copied: Any, *others: Any) -> Plan:
        object.__setattr__(copied, "report", said)
        return plan(driver, layout, copied, *others)

    monkeypatch.setattr(Driver, "_plan", planned)
    run = sent(campaign, 5, report=wanted)
    assert (pathlib.Path(run.run_dir) / "report.html").exists() == makes


def test_a_run_is_opened_by_its_directory(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    pattern = str(campaign.path.parent / "runs" / "{date}")
    run = sent(campaign, 5, run_dir=pattern)
    for use in (apns_batch.open, apns_batch.results, apns_batch.status, apns_batch.verify):
        with pytest.raises(
            apns_batch.ConfigurationError, match=r"this is a pattern, and no directory: .*run\.run_dir"
        ):
            use(pattern)
    assert apns_batch.open(run.run_dir).summary == run.summary


def test_a_run_is_steered(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("local", campaign, rows=20_000, senders=2, parts=8)
    wait_until(lambda: results_of(campaign.run_dir).total() > 500)
    run = apns_batch.open(campaign.run_dir)
    run.control("pause")
    time.sleep(3)
    before = results_of(campaign.run_dir).total()
    time.sleep(3)
    assert results_of(campaign.run_dir).total() == before < 20_000
    run.control("rate=200")
    run.control("continue")
    began = time.monotonic()
    wait_until(lambda: results_of(campaign.run_dir).total() > before + 200)
    assert time.monotonic() - began > 0.5
    run.control("stop")
    said = program.result()
    assert (said["rows"] < 20_000, said["parts_complete"] < 8) == (True, True)
    with pytest.raises(apns_batch.ConfigurationError, match="nobody is sending"):
        run.control("pause")
    assert run.status().ended == said["rows"]
    # The next start begins without.
    assert sent(campaign, 0).summary.rows == 20_000
    assert {requests for requests, _ in campaign.simulator.received().values()} == {1}
    (campaign.run_dir / "report.html").unlink()
    assert run.report().exists()


def test_sigterm_leaves_no_token(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("local", campaign, rows=20_000, senders=2)
    wait_until(lambda: results_of(campaign.run_dir).total() > 500)
    assert (campaign.run_dir / "token").exists()
    program.process.send_signal(signal.SIGTERM)
    assert program.process.wait(20) == 128 + signal.SIGTERM
    assert not (campaign.run_dir / "token").exists()
    assert not senders_of(campaign.run_dir)
    assert sent(campaign, 0).summary.rows == 20_000


def test_two_threads_with_one_directory(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    found: list[str] = []

    def send() -> None:
        try:
            found.append(str(sent(campaign, 6000).summary.rows))
        except apns_batch.ApnsBatchError as error:
            found.append(type(error).__name__)

    threads = [threading.Thread(target=send) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["6000", "RunBusyError", "RunBusyError"]


def test_results_that_are_too_many_are_an_error(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    sent(campaign, 50, parts=1)
    layout = RunLayout.of(campaign.run_dir)
    content = json.loads(layout.manifest.read_text())
    content["parts"][0]["rows"] = 49
    layout.manifest.write_text(json.dumps(content))
    with pytest.raises(apns_batch.StorageError, match="50 results, and 49 rows were frozen"):
        sent(campaign, 50)
    layout.manifest.unlink()
    with pytest.raises(apns_batch.ConfigurationError, match="it is missing, and rows of this run were sent"):
        sent(campaign, 50)


def test_a_part_without_its_summary_is_asked_again(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    first = sent(campaign, 200, parts=3)
    # As if its machine had lost the directory when all rows had ended.
    (campaign.run_dir / "parts" / "00001" / "summary.json").unlink()
    (campaign.run_dir / "parts" / "00002" / "summary.json").write_text("{}")
    (campaign.run_dir / "_COMPLETE").unlink()
    again = sent(campaign, 0)
    assert (again.summary, again.was_complete) == (first.summary, False)
    assert {requests for requests, _ in campaign.simulator.received().values()} == {1}


def test_a_url_sends_nothing(start_simulator: Start, make_campaign: Make, monkeypatch: Any) -> None:
    campaign = make_campaign(start_simulator())
    monkeypatch.chdir(campaign.path.parent)
    before = sorted(os.listdir())
    for url in ("s3://bucket/x", "dbfs:/x", "file:///x"):
        with pytest.raises(apns_batch.ConfigurationError, match=url):
            sent(campaign, 5, run_dir=url)
    with pytest.raises(apns_batch.ConfigurationError, match="unknown placeholder"):
        sent(campaign, 5, run_dir="runs/{ds}")
    assert sorted(os.listdir()) == before


def test_frozen_rows_that_change_are_not_sent(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("local", campaign, rows=20_000, senders=1, parts=4)
    wait_until(lambda: results_of(campaign.run_dir).total() > 100)
    program.kill()
    wait_until(lambda: not senders_of(campaign.run_dir), 4)
    layout = RunLayout.of(campaign.run_dir)
    unsent = next(part for part in Manifest.read(layout).parts if not layout.has_begun(part.part))
    path = campaign.run_dir / unsent.input
    content = path.read_bytes()
    path.write_bytes(content.replace(b"somebody", b"anybody!"))
    with pytest.raises(apns_batch.StorageError, match="other bytes than those that were frozen"):
        sent(campaign, 0)
    path.write_bytes(content)
    assert sent(campaign, 0).summary.rows == 20_000


def test_the_campaign_names_the_directory(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    with pytest.raises(apns_batch.ConfigurationError, match="name the run directory"):
        sent(campaign, 5, run_dir=None)
    named = sent(campaign, 5, run_dir=None, settings={"run_dir": str(campaign.run_dir)})
    assert named.run_dir == str(campaign.run_dir)
    with contextlib.suppress(ValueError):
        assert CampaignFile.of("x", {"a": None}).without == ["a"]


def test_a_run_of_another_night_that_was_completed_meanwhile_is_not_taken_for_this_one(
    start_simulator: Start, make_campaign: Make, monkeypatch: Any
) -> None:
    campaign = make_campaign(start_simulator())
    pattern = campaign.path.parent / "runs" / "{date}"
    earlier = campaign.path.parent / "runs" / "2026-01-01"
    sent(campaign, 20, run_dir=earlier)
    # It was not complete when this call looked for runs, and waited for its lock.
    monkeypatch.setattr("apns_batch._driver.found_place", lambda *_: Place(RunLayout.of(earlier)))
    with pytest.raises(apns_batch.ConfigurationError, match="completed this run of another night meanwhile"):
        sent(campaign, 30, run_dir=pattern)
    monkeypatch.undo()
    assert sent(campaign, 30, run_dir=pattern).summary.accepted == 30
