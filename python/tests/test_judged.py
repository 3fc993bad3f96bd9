"""Rows are judged once for the whole run: a part has whatever rows it happens to have."""

from __future__ import annotations

import json
import os
import pathlib
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Campaign, Simulator, rows, tokens

import apns_batch
from apns_batch._needs import first_key
from apns_batch._part import PartMessage
from apns_batch._results import results_of as results_file
from apns_batch._settings import check_settings

Start = Callable[..., Simulator]
Make = Callable[..., Campaign]


def people(count: int, named: int) -> list[dict[str, Any]]:
    """Rows of which some have a name within a value."""
    return [
        {"token": token, "person": {"given": "Ada"} if number < named else {"age": 36}}
        for number, token in enumerate(tokens(count))
    ]


@pytest.mark.parametrize("named", [1, 40])
def test_a_path_that_no_row_of_a_part_has(start_simulator: Start, make_campaign: Make, named: int) -> None:
    campaign = make_campaign(start_simulator(), columns={"name": "person.given"}, result_columns=["name"])
    given = people(40, named)
    assert apns_batch.check(given, campaign=campaign.path).is_ok
    run = apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir, parts=8)
    assert (run.summary.accepted, run.summary.left) == (40, 0)
    assert sorted(each.columns["name"] for each in run.results) == [""] * (40 - named) + ["Ada"] * named


def test_a_rare_path_is_looked_for_in_each_part(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), columns={"name": "person.given"})
    given = people(2600, 0)
    arguments: dict[str, Any] = {"campaign": campaign.path, "run_dir": campaign.run_dir, "parts": 2}
    with pytest.raises(apns_batch.ConfigurationError, match="none of the first 1000 rows"):
        apns_batch.run(given, **arguments)
    # The only row that has it is in the second part, and not among the first 1,000 of both.
    rare = next(row for row in given if zlib.crc32(row["token"].encode()) % 2)
    rare["person"] = {"given": "Ada"}
    assert apns_batch.run(given, **arguments).summary.accepted == 2600


def test_a_path_that_no_row_has(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), columns={"name": "person.givn"})
    message = r'"person\.givn", which is to be "name"; did you mean "person\.given"\?'
    with pytest.raises(apns_batch.ConfigurationError, match=message + "; nothing was sent"):
        apns_batch.run(people(40, 40), campaign=campaign.path, run_dir=campaign.run_dir, parts=8)
    assert not list(campaign.run_dir.glob("manifest.json"))
    assert not list(campaign.run_dir.glob("input/*"))
    assert not apns_batch.check(people(40, 40), campaign=campaign.path).is_ok
    assert campaign.simulator.received() == {}


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("uid", "uid"),
        ("person.given", "person"),
        ("a\\.b", "a.b"),
        ("a\\.b.c", "a.b"),
        ("a\\\\.b", "a\\"),
        ("a\\\\\\.b.c", "a\\.b"),
        ("a\\x", "a\\x"),
        ("a\\", "a\\"),
        ("a\nb.c", "a\nb"),
    ],
)
def test_the_first_key_of_a_path(path: str, key: str) -> None:
    assert first_key(path) == key


def test_a_backslash_before_the_dot_of_a_path(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), columns={"name": "a\\\\.b"}, result_columns=["name"])
    given = [{"token": token, "a\\": {"b": "Ada"}, "a.b": "wrong"} for token in tokens(4)]
    run = apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir)
    assert [each.columns["name"] for each in run.results] == ["Ada"] * 4


def test_unknown_settings_are_named_by_their_keys(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    for settings, message in (
        ({"prority": 5}, "there is no setting 'prority'; did you mean 'priority'?"),
        ({"prority": None}, "there is no setting 'prority'; did you mean 'priority'?"),
        ({"on-unknown": "report"}, "there is no setting 'on-unknown'; did you mean 'on_unknown'?"),
        ({"without": "canary"}, "there is no setting 'without'"),
        ({"help": True}, "there is no setting 'help'"),
        ({7: True}, "there is no setting 7"),
        ({"rate": "fast"}, "rate: expected a rate such as 2000/s"),
        ({"input_command": ["cat"]}, "input_command: write it into the campaign file"),
        ({"columns": "name"}, "columns has keys and values; write it into the campaign file"),
    ):
        given: Any = settings
        with pytest.raises(apns_batch.ConfigurationError) as caught:
            apns_batch.run(rows(3), campaign=campaign.path, run_dir=campaign.run_dir, settings=given)
        assert str(caught.value).startswith(f"settings: {message}")
        (fault,) = apns_batch.check(rows(3), campaign=campaign.path, settings=given).faults
        assert fault.startswith(f"settings: {message}")
    check_settings(os.environ["APNS_BATCH"], ["priority", "canary_max_rejected", "template"])


def test_a_name_that_no_process_can_be_given(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    given = [{**row, "x" * 140_000: 1} for row in rows(3)]
    with pytest.raises(apns_batch.ConfigurationError, match="a column or a setting is too long"):
        apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir)


def test_the_summary_of_a_run_has_its_exit_code(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())
    run = apns_batch.run(rows(3), campaign=campaign.path, run_dir=campaign.run_dir)
    found = json.loads((campaign.run_dir / "summary.json").read_text(encoding="utf-8"))
    assert (found["exit_code"], run.summary.exit_code) == (0, 0)
    assert not PartMessage(0, None, 75).is_complete


def damaged(campaign: Campaign, change: Callable[[bytes], bytes]) -> pathlib.Path:
    run = apns_batch.run(rows(30), campaign=campaign.path, run_dir=campaign.run_dir, parts=2)
    path = results_file(run._layout, 0)
    path.write_bytes(change(path.read_bytes()))
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[3:],
        lambda content: b"row,token\n" + content.partition(b"\n")[2],
        lambda content: content.partition(b"\n")[2],
        lambda content: content.replace(b",accepted,", b",acc\xff,", 1),
        lambda content: content.replace(b",accepted,", b",", 1),
    ],
)
def test_results_that_are_damaged(
    start_simulator: Start, make_campaign: Make, change: Callable[[bytes], bytes]
) -> None:
    path = damaged(make_campaign(start_simulator()), change)
    run_dir = path.parents[2]
    with pytest.raises(apns_batch.StorageError, match=f"{path}: .* damaged"):
        list(apns_batch.results(run_dir))
    found = apns_batch.verify(run_dir)
    assert not found.is_sound
    assert any(str(path) in fault for fault in found.faults)


@pytest.mark.parametrize("left", [0, 7, 300])
def test_a_line_that_was_cut_off_is_none(start_simulator: Start, make_campaign: Make, left: int) -> None:
    path = damaged(make_campaign(start_simulator()), lambda content: content[:left])
    run_dir = path.parents[2]
    whole = path.read_bytes().count(b"\n")
    found = [each for each in apns_batch.results(run_dir) if each.part == 0]
    assert len(found) == max(0, whole - 1)
    assert apns_batch.verify(run_dir).results == len(list(apns_batch.results(run_dir)))


def test_a_text_with_a_nul_spoils_no_result_column(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), result_columns=["user_id", "city"])
    names = ["x", "a\0b", "\\u0000", "x", "x", "x"]
    given = [
        {"token": token, "name": name, "user_id": number, "city": "c"}
        for number, (token, name) in enumerate(zip(tokens(6), names, strict=True), 1)
    ]
    run = apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir, parts=1)
    (invalid,) = (each for each in run.results if each.outcome == "invalid")
    assert invalid.reason == "name: expected a text, found a NUL at character 2"
    assert (invalid.token, invalid.columns) == (tokens(6)[1], {"user_id": "2", "city": "c"})
    assert run.summary.accepted == 5
