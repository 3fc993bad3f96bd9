"""Senders share the rate of a run, and its parts."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

import apns_batch
from apns_batch._claim import claim_of, has_senders
from apns_batch._control import Wishes
from apns_batch._layout import RunLayout
from apns_batch._pace import Pace
from apns_batch._part import PartMessage


class Clock:
    def __init__(self, monkeypatch: Any) -> None:
        self.now = 1000.0
        monkeypatch.setattr("time.monotonic", lambda: self.now)
        monkeypatch.setattr("time.sleep", self.pass_seconds)

    def pass_seconds(self, seconds: float) -> None:
        self.now += seconds


def look(clock: Clock, seconds: int, *paces: Pace) -> None:
    for _ in range(seconds):
        clock.pass_seconds(1)
        for pace in paces:
            pace.look()


def test_the_rate_belongs_to_those_at_work(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    clock, layout = Clock(monkeypatch), RunLayout.of(tmp_path)
    with Pace(layout, 4, 1000) as first:
        assert first.flags() == ["--rate", "250/s"]
        look(clock, 3, first)
        # Others may come in a moment.
        assert first.share == 250
        look(clock, 4, first)
        assert first.share == 1000
        with Pace(layout, 4, 1000) as second:
            assert second.share == 250
            look(clock, 1, first)
            assert first.share == 500
            second.wait_for_share(lambda: False)
            look(clock, 8, first, second)
            assert (first.share, second.share) == (500, 500)
        look(clock, 8, first)
        assert first.share == 1000


def test_a_sender_waits_for_its_share(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    clock, layout = Clock(monkeypatch), RunLayout.of(tmp_path)
    with Pace(layout, 2, 1000) as first:
        look(clock, 8, first)
        with Pace(layout, 2, 1000) as second:
            began = clock.now
            second.wait_for_share(lambda: False)
            # The other one is paused, and does not answer.
            assert clock.now - began >= 5
            look(clock, 1, first)
            began = clock.now
            second.wait_for_share(lambda: False)
            assert clock.now == began


def test_without_a_seat_the_least_share_remains(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    clock, layout = Clock(monkeypatch), RunLayout.of(tmp_path)
    with Pace(layout, 1, 1000) as first, Pace(layout, 1, 1000) as twin:
        look(clock, 9, first, twin)
        assert (first.share, twin.share) == (1000, 1000)
    with Pace(layout, 3, None) as free:
        look(clock, 9, free)
        assert (free.share, free.flags()) == (None, [])


def test_what_is_asked_of_senders(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    clock, layout = Clock(monkeypatch), RunLayout.of(tmp_path)
    assert Wishes.read(layout) == Wishes()
    with Pace(layout, 2, None) as pace:
        Wishes().after("pause").after("rate=500").write(layout)
        look(clock, 1, pace)
        assert (pace.is_paused, pace.share) == (True, 250)
        Wishes.read(layout).after("continue").after("rate 100/s").write(layout)
        look(clock, 1, pace)
        assert (pace.is_paused, pace.share) == (False, 50)
        layout.control.write_text("{")
        look(clock, 1, pace)
        assert not pace.is_paused
    for wrong in ("", "halt", "rate=0", "rate=fast", "rate"):
        with pytest.raises(apns_batch.ConfigurationError, match="expected pause, continue, stop"):
            Wishes().after(wrong)


def test_a_part_has_one_sender(tmp_path: pathlib.Path) -> None:
    layout = RunLayout.of(tmp_path)
    message = PartMessage(3, {"rows": 1}, 0)
    with claim_of(layout, 3, "a") as claim, claim_of(layout, 3, "a") as other:
        assert claim is not None
        assert other is None
        assert has_senders(layout)
        claim.interruptions, claim.message = 2, message
        claim.keep()
    assert not has_senders(layout)
    with claim_of(layout, 3, "a") as claim:
        assert claim is not None
        assert (claim.interruptions, claim.message) == (2, message)
    # What was known in an earlier start is not known in this one.
    with claim_of(layout, 3, "b") as claim:
        assert claim is not None
        assert (claim.interruptions, claim.message) == (0, None)
    (layout.claims / "00003").write_text('{"start": "b", "int')
    with claim_of(layout, 3, "b") as claim:
        assert claim is not None
        assert claim.message is None
