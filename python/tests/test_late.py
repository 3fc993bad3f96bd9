"""The end of a campaign (`not_after`, `expiration`): rows of a run that has begun expire, and no run begins after it."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest
from conftest import Campaign, Program, Simulator, results_of, rows, senders_of, tokens, wait_until

import apns_batch
from apns_batch._layout import RunLayout
from apns_batch._manifest import Manifest

Start = Callable[..., Simulator]
Make = Callable[..., Campaign]
Run = Callable[..., Program]

PAST = "2020-01-01T00:00:00Z"
FORMAT = "%Y-%m-%dT%H:%M:%SZ"


@pytest.mark.parametrize("setting", ["not_after", "expiration"])
def test_parts_that_begin_after_the_end_expire(
    start_simulator: Start, make_campaign: Make, start_program: Run, setting: str
) -> None:
    end = time.time() + (12 if setting == "expiration" else 3600)
    simulator = start_simulator("answers_per_second: 400\n")
    campaign = make_campaign(simulator, **{setting: f"{datetime.fromtimestamp(end, timezone.utc):{FORMAT}}"})
    first = start_program("local", campaign, rows=8000, senders=1, parts=4, on_unknown="report")
    wait_until(lambda: sum(results_of(campaign.run_dir).values()) > 100)
    first.kill()
    wait_until(lambda: not senders_of(campaign.run_dir), 10)
    assert len(list(campaign.run_dir.glob("parts/*/ledger"))) == 1
    if setting == "not_after":
        # As if an hour had gone by.
        make_campaign(simulator, not_after=PAST)
        layout = RunLayout.of(campaign.run_dir)
        Manifest.read(layout).ending(PAST).write(layout)
    wait_until(lambda: setting == "not_after" or time.time() > end + 1)
    run = apns_batch.run([], campaign=campaign.path, run_dir=campaign.run_dir)
    summary = run.summary
    assert (summary.left, summary.is_complete, run.was_complete) == (0, True, False)
    assert summary.expired >= 6000
    assert summary.accepted + summary.expired + summary.unknown == 8000
    assert set(results_of(campaign.run_dir).values()) == {1}
    late = [each for each in run.results if each.part == 3]
    reason = (
        "not after: the campaign's deadline has passed"
        if setting == "not_after"
        else "expiration: that of the campaign passed before the row could be sent"
    )
    assert {each.outcome for each in late} == {"expired"}
    assert all((each.reason or "").endswith(reason) for each in late)
    assert apns_batch.run([], campaign=campaign.path, run_dir=campaign.run_dir).was_complete
    received = campaign.simulator.received()
    assert max(requests for requests, _ in received.values()) == 1
    assert sum(accepted for _, accepted in received.values()) >= summary.accepted


def test_the_end_comes_while_parts_wait(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator("answers_per_second: 200\n"), not_after="2s")
    run = apns_batch.run(rows(3000), campaign=campaign.path, run_dir=campaign.run_dir, parts=6)
    assert (run.summary.left, run.summary.is_complete) == (0, True)
    assert run.summary.accepted + run.summary.expired == 3000
    assert {each.outcome for each in run.results if each.part == 5} == {"expired"}


@pytest.mark.parametrize("setting", ["not_after", "expiration"])
def test_no_run_begins_after_the_end(start_simulator: Start, make_campaign: Make, setting: str) -> None:
    campaign = make_campaign(start_simulator(), **{setting: PAST})
    message = f"{setting}: expected a time in the future"
    with pytest.raises(apns_batch.ConfigurationError, match=message):
        apns_batch.run(rows(20), campaign=campaign.path, run_dir=campaign.run_dir)
    assert not (campaign.run_dir / "input").exists()
    found = apns_batch.check(rows(20), campaign=campaign.path)
    assert not found.is_ok
    assert message in str(found)
    assert campaign.simulator.received() == {}


def test_unavailable_rows_do_not_expire_in_silence(start_simulator: Start, make_campaign: Make) -> None:
    script = "rules: [{ share: 1, status: 503, reason: Shutdown, times: 1 }]\n"
    campaign = make_campaign(start_simulator(script), attempts=1, not_after="1h")
    arguments: dict[str, Any] = {"campaign": campaign.path, "run_dir": campaign.run_dir}
    run = apns_batch.run(rows(40), parts=2, **arguments)
    unavailable = run.summary.unavailable
    assert unavailable > 0
    layout = RunLayout.of(campaign.run_dir)
    Manifest.read(layout).ending(PAST).write(layout)
    opened = apns_batch.open(campaign.run_dir)
    given: tuple[tuple[apns_batch.Run, dict[str, Any]], ...] = (
        (run, {}),
        (opened, {"campaign": campaign.path}),
        (opened, {"campaign": campaign.path, "settings": {"not_after": PAST}}),
    )
    for handle, options in given:
        with pytest.raises(apns_batch.ConfigurationError, match=r"not_after, .*Z, has passed"):
            handle.retry_unavailable(**options)
    assert (campaign.run_dir / "_COMPLETE").exists()
    assert opened.status().unavailable == unavailable
    again = opened.retry_unavailable(campaign=campaign.path, settings={"not_after": None})
    assert (again.summary.accepted, again.summary.unavailable, again.summary.expired) == (40, 0, 0)
    assert set(campaign.simulator.received()) == set(tokens(40))
