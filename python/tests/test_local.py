"""A run in parts without Spark: rows of a program, sent by processes of the command."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest
from conftest import (
    TEXTS,
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
from apns_batch import _command, _status
from apns_batch._layout import RunLayout
from apns_batch._manifest import Manifest

Start = Callable[..., Simulator]
Make = Callable[..., Campaign]
Run = Callable[..., Program]

SLOW = "answers_per_second: 4000\n"


def sent(campaign: Campaign, count: int, **arguments: Any) -> apns_batch.Run:
    return apns_batch.run(rows(count), campaign=campaign.path, run_dir=campaign.run_dir, **arguments)


def test_each_row_is_sent_once(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator("rules: [{ share: 0.1, status: 410, reason: Unregistered }]\n"))
    run = sent(campaign, 5000, senders=2, parts=5)
    received = campaign.simulator.received()
    assert received.keys() == set(tokens(5000))
    assert {requests for requests, _ in received.values()} == {1}
    accepted = sum(accepted for _, accepted in received.values())
    assert 4000 < accepted < 5000
    assert (run.summary.rows, run.summary.accepted, run.summary.rejected) == (5000, accepted, 5000 - accepted)
    assert run.summary.reasons == {"Unregistered": 5000 - accepted}
    assert (run.summary.is_complete, run.summary.exit_code, run.summary.left) == (True, 0, 0)
    results = list(run.results)
    assert sorted(result.token for result in results) == sorted(tokens(5000))
    assert len({result.apns_id for result in results}) == 5000
    found = apns_batch.verify(campaign.run_dir)
    assert found.is_sound
    assert (found.is_complete, found.rows, found.results) == (True, 5000, 5000)
    assert json.loads((campaign.run_dir / "summary.json").read_text())["accepted"] == accepted
    assert (campaign.run_dir / "report.html").exists()
    assert not (campaign.run_dir / "token").exists()


def test_a_further_call_sends_nothing(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    first = sent(campaign, 300, parts=3)

    def unread() -> Any:
        yield from rows(1000)
        raise AssertionError("frozen rows are asked for their columns only")

    second = apns_batch.run(unread(), campaign=campaign.path, run_dir=campaign.run_dir)
    assert second.summary == first.summary
    assert {requests for requests, _ in campaign.simulator.received().values()} == {1}


def test_a_device_is_in_one_part(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    twice = [
        {"token": token.upper() if number else token, "name": str(number)}
        for number in (0, 1)
        for token in tokens(200, 10)
    ]
    apns_batch.run(twice, campaign=campaign.path, run_dir=campaign.run_dir, parts=7)
    found: dict[str, set[int]] = {}
    for result in apns_batch.Run(str(campaign.run_dir), apns_batch.Summary("")).results:
        found.setdefault(result.token.lower(), set()).add(result.part)
    assert len(found) == 200
    assert {len(parts) for parts in found.values()} == {1}


@pytest.mark.parametrize("policy", ["report", "resend"])
def test_killed_senders_are_resumed(
    start_simulator: Start, make_campaign: Make, start_program: Run, policy: str
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("local", campaign, rows=12_000, senders=2, parts=4, on_unknown=policy)
    for _ in range(3):
        wait_until(lambda: bool(senders_of(campaign.run_dir)))
        time.sleep(0.5)
        for sender in senders_of(campaign.run_dir):
            with contextlib.suppress(ProcessLookupError):
                os.kill(sender, signal.SIGKILL)
    summary = program.result()
    assert summary["rows"] == 12_000, summary
    check_policy(campaign, 12_000, policy)


def test_a_killed_program_is_started_again(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    for _ in range(3):
        program = start_program("local", campaign, rows=10_000, senders=2, parts=4, on_unknown="report")
        wait_until(lambda: bool(senders_of(campaign.run_dir)))
        time.sleep(0.7)
        program.kill()
        # The leash: a sender ends with the program, whatever ended it.
        wait_until(lambda: not senders_of(campaign.run_dir), 4)
    summary = start_program("local", campaign, rows=10_000, senders=2, on_unknown="report").result()
    assert summary["rows"] == 10_000
    check_policy(campaign, 10_000, "report")


def test_a_program_killed_while_it_freezes_freezes_again(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator())
    program = start_program("local", campaign, rows=50_000_000)
    wait_until(lambda: any(path.stat().st_size > 100_000 for path in campaign.run_dir.glob("input/*")))
    program.kill()
    assert sent(campaign, 500).summary.accepted == 500
    assert set(campaign.simulator.received()) == set(tokens(500))


def test_of_two_programs_one_sends(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    first = start_program("local", campaign, rows=8000, senders=2)
    wait_until(lambda: bool(senders_of(campaign.run_dir)))
    # It has not ended before the second one begins, however long that takes.
    senders = senders_of(campaign.run_dir)
    for sender in senders:
        os.kill(sender, signal.SIGSTOP)
    second = start_program("local", campaign, rows=8000, senders=2).result()
    assert second["error"] == "RunBusyError"
    for sender in senders:
        os.kill(sender, signal.SIGCONT)
    third = start_program("local", campaign, rows=8000, senders=2, lock_wait=100).result()
    assert (first.result()["rows"], third["rows"]) == (8000, 8000)
    assert {requests for requests, _ in campaign.simulator.received().values()} == {1}


def test_a_paused_sender_keeps_its_part(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("local", campaign, rows=12_000, parts=1, on_unknown="report")
    wait_until(lambda: bool(senders_of(campaign.run_dir)))
    wait_until(lambda: apns_batch.status(campaign.run_dir).ended > 0)
    (zombie,) = senders_of(campaign.run_dir)
    os.kill(zombie, signal.SIGSTOP)
    proof = campaign.run_dir / ".shared" / "driver"
    first = proof.read_text()
    program.kill()
    again = start_program("local", campaign, rows=0, on_unknown="report")
    wait_until(lambda: proof.exists() and proof.read_text() != first)
    before = results_of(campaign.run_dir).total()
    time.sleep(3)
    assert results_of(campaign.run_dir).total() == before, "somebody sends while the lock is held"
    os.kill(zombie, signal.SIGCONT)
    assert again.result()["rows"] == 12_000
    check_policy(campaign, 12_000, "report")


def test_a_fatal_answer_stops_all_senders(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    script = f"{SLOW}rules: [{{ share: 0.001, status: 403, reason: InvalidProviderToken }}]\n"
    campaign = make_campaign(start_simulator(script))
    program = start_program("local", campaign, rows=4000, senders=2, parts=2)
    wait_until(lambda: (campaign.run_dir / "stop").exists())
    wait_until(lambda: not senders_of(campaign.run_dir), 4)
    result = program.result()
    assert result["error"] == "SendingStoppedError"
    assert "InvalidProviderToken" in result["text"]
    summary = json.loads((campaign.run_dir / "summary.json").read_text())
    assert 0 < summary["left"] < 4000
    assert not (campaign.run_dir / "_COMPLETE").exists()


def test_the_rate_is_that_of_all_senders(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    sent(campaign, 6000, senders=2, parts=6, rate=1500)
    assert {requests for requests, _ in campaign.simulator.received().values()} == {1}
    assert 900 < campaign.simulator.largest_second() <= 1575


def test_a_canary_comes_before_all_others(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(
        start_simulator("rules: [{ share: 1.0, status: 400, reason: BadDeviceToken }]\n")
    )
    with pytest.raises(apns_batch.SendingStoppedError):
        sent(campaign, 5000, senders=2, parts=4, canary=50)
    assert 1 <= len(campaign.simulator.received()) <= 50


def test_values_arrive_as_they_are(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), result_columns=["name"])
    given = [{"token": token, "name": name} for token, name in zip(tokens(len(TEXTS)), TEXTS, strict=True)]
    run = apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir, parts=3)
    found = {result.token: result.columns["name"] for result in run.results}
    assert found == {row["token"]: row["name"] for row in given}


def test_a_bad_row_spoils_no_other(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    given = [*rows(10), {"token": tokens(1, 10)[0], "name": "nul\0byte"}]
    run = apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir, parts=1)
    assert (run.summary.accepted, run.summary.invalid, run.summary.exit_code) == (10, 1, 2)


def test_payloads_of_rows(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), template=None)
    given = [
        {"token": token, "payload": {"aps": {"badge": number}}} for number, token in enumerate(tokens(20))
    ]
    run = apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir)
    assert run.summary.accepted == 20


def test_the_simulator_inside_each_sender(tmp_path: pathlib.Path) -> None:
    (tmp_path / "campaign.yaml").write_text("{ to: simulator }")
    given = [{"token": token, "payload": {"aps": {"badge": 1}}} for token in tokens(100)]
    run = apns_batch.run(given, campaign=tmp_path / "campaign.yaml", run_dir=tmp_path / "run", senders=2)
    assert run.summary.accepted == 100


def test_no_rows(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    with pytest.raises(apns_batch.ConfigurationError, match="there are no rows"):
        sent(campaign, 0)
    run = sent(campaign, 0, allow_empty=True)
    assert (run.summary.parts, run.summary.rows, run.summary.is_complete, run.summary.exit_code) == (
        0,
        0,
        True,
        2,
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([{"name": "no token"}], 'rows: no column "token"; there are name'),
        ([{"Token": "aa", "name": "x"}], 'did you mean "Token"'),
        ([{"tokn": "aa", "name": "x"}], 'there are tokn, name; did you mean "tokn"'),
        ([{"name": "x", "device_token": "aa"}], 'did you mean "device_token"'),
        ([{"token": "aa", "nmae": "x"}], 'unknown column "name"; did you mean "nmae"'),
        (
            [{"token": "aa", "name": "x"}, "a text"],
            "row 2: expected a mapping, a dataclass or a named tuple, found a str",
        ),
        ([{"token": "aa", "name": "x"}] * 1500 + [(1, 2)], "row 1501: expected a mapping"),
        ("token", "rows: expected an iterable of rows or a frame, found a str"),
        ({"token": "aa"}, "rows: expected an iterable of rows or a frame, found a dict"),
        (5, "rows: expected an iterable"),
    ],
)
def test_wrong_rows(start_simulator: Start, make_campaign: Make, given: Any, message: str) -> None:
    campaign = make_campaign(start_simulator())
    with pytest.raises(apns_batch.ConfigurationError, match=message):
        apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir)
    assert campaign.simulator.received() == {}


def test_another_campaign_is_refused(start_simulator: Start, make_campaign: Make) -> None:
    simulator = start_simulator()
    campaign = make_campaign(simulator)
    sent(campaign, 10)
    with pytest.raises(apns_batch.ConfigurationError, match="another campaign"):
        sent(make_campaign(simulator, priority=5), 10)


def test_a_wrong_campaign_says_where(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), prioritty=5)
    with pytest.raises(
        apns_batch.ConfigurationError, match=r"campaign\.yaml:1:\d+: unknown key \"prioritty\""
    ):
        sent(campaign, 10)


def test_a_directory_of_something_else_is_left_alone(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    campaign.run_dir.mkdir()
    (campaign.run_dir / "thesis.txt").write_text("x")
    with pytest.raises(apns_batch.ConfigurationError, match=r"holds no run in parts: thesis\.txt"):
        sent(campaign, 10)


def test_ctrl_c_ends_the_senders(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("local", campaign, rows=20_000, senders=2, rate=500)
    wait_until(lambda: bool(senders_of(campaign.run_dir)))
    wait_until(lambda: apns_batch.status(campaign.run_dir).ended > 0)
    program.process.send_signal(signal.SIGINT)
    program.process.wait(15)
    assert not senders_of(campaign.run_dir)
    assert 0 < apns_batch.status(campaign.run_dir).ended < 20_000
    assert sent(campaign, 0).summary.rows == 20_000


def test_the_status_of_a_run(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("local", campaign, rows=8000, parts=3)
    wait_until(lambda: bool(senders_of(campaign.run_dir)))
    wait_until(lambda: apns_batch.status(campaign.run_dir).ended > 0)
    status = apns_batch.status(campaign.run_dir)
    assert (status.rows, len(status.parts)) == (8000, 3)
    assert status.count("sending") == 1
    program.result()
    status = apns_batch.status(campaign.run_dir)
    assert (status.ended, status.count("complete"), status.is_complete) == (8000, 3, True)
    assert (status.outcomes["accepted"], status.unavailable) == (8000, 0)


def test_the_status_of_many_parts_takes_one_process(
    start_simulator: Start, make_campaign: Make, monkeypatch: Any
) -> None:
    script = "rules: [{ share: 0.5, status: 503, reason: Shutdown, times: 1 }]\n"
    campaign = make_campaign(start_simulator(script), attempts=1)
    run = sent(campaign, 60, parts=5)
    asked: list[list[str]] = []
    ask = _command.ask

    def counted(command: list[str]) -> Any:
        asked.append(command)
        return ask(command)

    monkeypatch.setattr(_status, "ask", counted)
    status = run.status()
    assert len(asked) == 1
    assert (status.is_complete, status.unavailable) == (True, run.summary.unavailable)
    assert status.unavailable > 0
    # Parts that are complete are not read again.
    reader = _status.StatusReader(RunLayout.of(run.run_dir), Manifest.read(RunLayout.of(run.run_dir)))
    assert reader.read() == status
    assert (reader.read().parts, len(asked)) == (status.parts, 2)


def test_the_parts_of_a_run_that_goes_on(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator(SLOW))
    program = start_program("local", campaign, rows=9000, parts=3)
    wait_until(lambda: results_of(campaign.run_dir).total() > 0)
    layout = RunLayout.of(campaign.run_dir)
    reader = _status.StatusReader(layout, Manifest.read(layout))
    found: list[_status.Status] = []
    while not found or not found[-1].is_complete:
        found.append(reader.read())
    ended = [status.ended for status in found]
    assert ended == sorted(ended)
    assert (len(found) > 1, ended[-1]) == (True, 9000)
    program.result()


def test_verification_finds_what_is_wrong(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    sent(campaign, 100, parts=1)
    results = campaign.run_dir / "parts" / "00000" / "results.csv"
    lines = results.read_text().splitlines(keepends=True)
    results.write_text("".join([*lines[:-1], lines[5]]))
    found = apns_batch.verify(campaign.run_dir)
    assert found.is_complete
    assert len(found.faults) == 1
    assert "has two results" in found.faults[0]


def test_no_key_is_in_the_run_directory(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    sent(campaign, 50)
    key = next(campaign.simulator.directory.glob("*.p8")).read_text().splitlines()[1]
    for path in campaign.run_dir.rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes(), path


def test_files_of_the_campaign_are_copied(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    sent(campaign, 10)
    copied = {path.name for path in pathlib.Path(campaign.run_dir, "campaign").iterdir()}
    assert copied == {"campaign.yaml", "template-template.json", "ca_file-ca.pem"}


def test_the_versions_agree() -> None:
    said = subprocess.run([os.environ["APNS_BATCH"], "--version"], check=True, capture_output=True, text=True)
    assert said.stdout.split()[0] == apns_batch.__version__
