"""Single steps of a run in parts."""

from __future__ import annotations

import json
import pathlib
from dataclasses import replace
from typing import Any

import pytest

import apns_batch
from apns_batch import _storage
from apns_batch._altered import plain
from apns_batch._campaign import Campaign, CopiedCampaign
from apns_batch._freeze import accept, begin_input, freeze_rows
from apns_batch._layout import RunLayout
from apns_batch._manifest import Manifest, Part, Settled
from apns_batch._needs import needs_of
from apns_batch._options import Options
from apns_batch._pace import rate_text
from apns_batch._part import PartMessage, stop_all
from apns_batch._plan import whole_connections, whole_rate
from apns_batch._results import FIXED_COLUMNS, part_lines, results_of
from apns_batch._storage import check_storage, confirm_driver, driver_lock, file_system_of

MOUNTS = """\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
40 22 0:38 / /mnt/push rw,relatime shared:9 - nfs4 server:/push rw,local_lock=none
41 22 0:39 / /mnt/push/lake rw,nosuid shared:10 - fuse.s3fs s3fs rw
42 22 0:40 / /mnt/with\\040space rw - fuse.gcsfuse lake rw
"""


def copied(**more: Any) -> CopiedCampaign:
    content: dict[str, Any] = {
        **{"name": None, "campaign_id": None, "credentials": "signing_key", "rate": None},
        **{"digest": "", **more},
    }
    return CopiedCampaign(**content)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home", "ext4"),
        ("/mnt/push/tonight", "nfs4"),
        ("/mnt/push/lake/tonight", "fuse.s3fs"),
        ("/mnt/pushed", "ext4"),
        ("/mnt/with space/x", "fuse.gcsfuse"),
    ],
)
def test_the_file_system_of_a_directory(tmp_path: pathlib.Path, path: str, kind: str) -> None:
    (tmp_path / "mounts").write_text(MOUNTS)
    assert file_system_of(pathlib.Path(path), str(tmp_path / "mounts")) == kind


def test_a_file_system_of_this_machine_only_is_refused(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    check_storage(tmp_path)
    monkeypatch.setattr(_storage, "file_system_of", lambda _: "fuse.s3fs")
    with pytest.raises(apns_batch.StorageError, match=r"fuse\.s3fs"):
        check_storage(tmp_path)


def test_locks_that_do_not_exclude_are_refused(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    # As with an NFS mount that keeps locks to itself: the lock of this process is not seen by the other one.
    monkeypatch.setattr("fcntl.flock", lambda *_: None)
    with pytest.raises(apns_batch.StorageError, match="two processes can lock"):
        check_storage(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_task_sends_only_while_its_driver_lives(tmp_path: pathlib.Path) -> None:
    lock = tmp_path / "lock"
    with driver_lock(lock, 0):
        confirm_driver(lock)
        confirm_driver(lock)
        with pytest.raises(apns_batch.RunBusyError), driver_lock(lock, 0):
            pass
    with pytest.raises(apns_batch.DriverGoneError):
        confirm_driver(lock)
    with pytest.raises(apns_batch.StorageError, match="do all machines see"):
        confirm_driver(tmp_path / "elsewhere")


@pytest.mark.parametrize(
    ("options", "senders", "flags"),
    [
        (Options(), 1, "--lanes 1 --connections 64"),
        (Options(lanes=2, connections=16), 2, "--lanes 2 --connections 4"),
        (Options(connections=1), 4, "--lanes 1 --connections 1"),
        (Options(on_unknown="report"), 3, "--lanes 1 --connections 21 --on-unknown report"),
    ],
)
def test_limits_are_divided(options: Options, senders: int, flags: str) -> None:
    assert " ".join(options.flags(senders)) == flags


def test_the_rate_of_a_run() -> None:
    assert whole_rate(Options(), copied(rate=200.0), manifest()) == 200
    assert whole_rate(Options(rate=5000), copied(rate=40.0), manifest()) == 5000
    spread = replace(manifest(), settled=Settled(spread_seconds=100))
    assert whole_rate(Options(), copied(), spread) == 3
    assert whole_rate(Options(rate=2), copied(), spread) == 2
    assert whole_connections(Options(), copied(connections=8, lanes=4)) == 32
    assert whole_connections(Options(connections=5), copied(connections=8)) == 5
    assert whole_connections(Options(), copied()) is None
    assert [rate_text(rate) for rate in (5000.7, 100, 99.5, 2.5, 0.0001)] == [
        *("5000/s", "100/s", "358200/h", "9000/h", "1/h")
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"senders": 0},
        {"lanes": 1.5},
        {"rate": 0},
        {"rate": float("inf")},
        {"rate": "2000/s"},
        {"expect_rows": -1},
        {"parts": -1},
        {"connections": 0},
        {"canary": 0},
        {"on_unknown": "maybe"},
    ],
)
def test_wrong_options(wrong: dict[str, Any]) -> None:
    with pytest.raises(apns_batch.ConfigurationError, match=next(iter(wrong))):
        Options(**wrong)


def manifest() -> Manifest:
    parts = tuple(Part(number, f"input/part-{number}", 10, 100) for number in range(3))
    return Manifest("0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f10", "x", "2026-01-01T00:00:00Z", "", parts)


def test_sums() -> None:
    said = {"rows": 100, "accepted": 90, "rejected": 10, "attempts": 101, "reasons": {"Unregistered": 10}}
    part = [PartMessage(number, said, 0) for number in range(3)]
    summary = apns_batch.Summary.of(manifest(), part)
    assert (summary.rows, summary.accepted, summary.left, summary.attempts) == (300, 270, 0, 303)
    assert (summary.reasons, summary.cause, summary.exit_code) == ({"Unregistered": 30}, None, 0)
    # Of two messages of a part, the last one counts.
    cut = apns_batch.Summary.of(manifest(), [*part, PartMessage(1, {**said, "rows": 40}, 75, "interrupted")])
    assert (cut.rows, cut.left, cut.parts_complete, cut.cause, cut.exit_code) == (
        240,
        60,
        2,
        "interrupted",
        75,
    )
    unknown = apns_batch.Summary.of(manifest(), [*part, PartMessage(1, {**said, "unknown": 1}, 2)])
    assert (unknown.is_complete, unknown.exit_code) == (True, 2)


def test_a_manifest_is_read_as_it_was_written(tmp_path: pathlib.Path) -> None:
    layout = RunLayout.of(tmp_path)
    with pytest.raises(apns_batch.ConfigurationError, match="there is no run in parts"):
        Manifest.read(layout)
    manifest().write(layout)
    assert Manifest.read(layout) == manifest()
    ids = {manifest().part_id(number) for number in range(3)}
    assert len(ids) == 3
    # A later version must derive the same ids: a run may be finished by it.
    assert manifest().part_id(1) == "296b6c28-41ab-526c-a1fb-6dce779a205e"
    for text in ("", "{}", '{"format": 2}', '{"format": 1, "parts": [{}]}'):
        layout.manifest.write_text(text)
        with pytest.raises(apns_batch.ConfigurationError):
            Manifest.read(layout)


def test_the_first_cause_of_a_stop_is_kept(tmp_path: pathlib.Path) -> None:
    layout = RunLayout.of(tmp_path)
    stop_all(layout, 3, 69, "the key was revoked")
    stop_all(layout, 4, 64, "another")
    assert '"part": 3' in layout.stop.read_text()


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("'=A1", "=A1"),
        ("'\uff1dA1", "\uff1dA1"),
        (r"'C:\\x\n", "C:\\x\n"),
        (r"'\r\t\u001b\u2028", "\r\t\x1b\u2028"),
        (r"'\\u0041\\", "\\u0041\\"),
        (r"''a\\n", r"'a\n"),
        ("'" * 3, "'" * 2),
        (r"'O\x92", "O\udc92"),
        *[(text, text) for text in ("", "'", "'s-Hertogenbosch", "O'Brien", r"C:\new", "-5", "line\nbreak")],
    ],
)
def test_altered_fields_are_read_as_they_were(field: str, text: str) -> None:
    assert plain(field) == text


def test_altered_names_of_columns_are_read_as_they_were(tmp_path: pathlib.Path) -> None:
    layout = RunLayout.of(str(tmp_path))
    path = results_of(layout, 1)
    path.parent.mkdir(parents=True)
    fixed = [*FIXED_COLUMNS]
    path.write_text(f"{','.join(fixed)},'=id,it's\n1,ab,accepted,200,,,,1,,'=A1,'s\n", encoding="utf-8")
    (line,) = part_lines(layout, 1)
    assert [line["=id"], line["it's"]] == ["=A1", "'s"]


def test_each_row_has_the_keys_of_the_first_rows(tmp_path: pathlib.Path) -> None:
    layout = RunLayout.of(tmp_path)
    rows: list[dict[str, Any]] = [{"token": f"{number:064x}"} for number in range(1200)]
    rows[999]["name"] = "Ada"
    rows[1000]["late"] = 1
    rows[1001] = {"token": f"{1001:064x}", "other": True}
    begin_input(layout)
    parts = accept(layout, freeze_rows(rows, layout, 4))
    lines = [json.loads(line) for part in parts for line in (tmp_path / part.input).read_text().splitlines()]
    assert len(lines) == 1200
    assert all("name" in line for line in lines)
    assert sum(line["name"] == "Ada" for line in lines) == 1
    assert sum("late" in line for line in lines) == 1
    assert sum(line.get("other") is True for line in lines) == 1


def test_settings_with_keys_are_for_the_file() -> None:
    campaign = Campaign.of("campaign.yaml", {"columns": {"name": "given_name"}})
    with pytest.raises(apns_batch.ConfigurationError, match="columns has keys and values; write it"):
        campaign.flags()


def test_a_frame_of_pandas_is_none_of_spark() -> None:
    pytest.importorskip("pyspark")
    pd: Any = pytest.importorskip("pandas")
    from apns_batch import spark  # noqa: PLC0415

    with pytest.raises(
        apns_batch.ConfigurationError, match=r"found a pandas\.DataFrame; apns_batch\.run sends"
    ):
        spark.send(pd.DataFrame({"token": ["ab"]}), campaign="campaign.yaml")


def test_sources_of_names_are_needed(tmp_path: pathlib.Path) -> None:
    campaign = {"columns": {"user_id": "uid", "name": "person.given"}}
    (tmp_path / "campaign.yaml").write_text(json.dumps(campaign))
    needs = needs_of({"needs": [{"column": "name", "uses": ["template"]}]}, tmp_path)
    assert needs.used(("token", "uid", "person", "other")) == ("token", "uid", "person")
