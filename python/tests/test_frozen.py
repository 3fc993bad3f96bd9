"""What is frozen is what is sent: the steps that see to it, one by one."""

from __future__ import annotations

import os
import pathlib
import stat
from dataclasses import replace
from typing import Any

import pytest

import apns_batch
from apns_batch._faults import Fault
from apns_batch._freeze import Frozen, PartWriter, accept, begin_input, check_frozen, freeze_rows
from apns_batch._layout import RunLayout
from apns_batch._manifest import Part
from apns_batch._proof import Proof
from apns_batch._storage import driver_lock


@pytest.fixture
def layout(tmp_path: pathlib.Path) -> RunLayout:
    found = RunLayout.of(tmp_path)
    begin_input(found)
    return found


def written(layout: RunLayout, part: int, *lines: str) -> Frozen:
    writer = PartWriter(layout, part)
    for line in lines:
        writer.write(line.encode() + b"\n")
    return writer.finish()


def test_parts_are_numbered_by_reports(layout: RunLayout) -> None:
    # A session may merge partitions, and number them as it likes.
    reports = [written(layout, 7, "{}", "{}"), written(layout, 3, "{}"), written(layout, 5)]
    parts = accept(layout, reports)
    assert [(part.part, part.input, part.rows, part.bytes) for part in parts] == [
        (0, "input/part-00000.json", 1, 3),
        (1, "input/part-00001.json", 2, 6),
    ]
    assert [part.sha256 for part in parts] == [reports[1].sha256, reports[0].sha256]
    for part in parts:
        check_frozen(layout, part)


def test_files_of_other_attempts_are_removed(layout: RunLayout) -> None:
    report = written(layout, 0, "{}")
    # An executor that was killed after it had written, and before it said so.
    written(layout, 0, "{}")
    accept(layout, [report])
    assert [path.name for path in layout.input.iterdir()] == ["part-00000.json"]


def test_rows_can_be_read_by_their_owner_only(layout: RunLayout) -> None:
    layout.input.chmod(0o755)
    before = os.umask(0)
    try:
        accept(layout, [written(layout, 0, "{}")])
    finally:
        os.umask(before)
    assert stat.S_IMODE(layout.input_of(0).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda path: path.unlink(), "cannot be read here"),
        (lambda path: path.write_bytes(b"{}\n"), "and 1 rows in 3 bytes are read here"),
        (lambda path: path.write_bytes(b"{}\n[]\n"), "which are others"),
        (lambda path: path.write_bytes(b""), "and 0 rows in 0 bytes"),
    ],
)
def test_a_file_that_differs_is_refused(layout: RunLayout, damage: Any, text: str) -> None:
    report = replace(written(layout, 0, "{}", "{}"), host="worker7")
    damage(layout.input / report.file)
    with pytest.raises(apns_batch.StorageError, match=text) as raised:
        accept(layout, [written(layout, 1, "{}"), report])
    assert "worker7" in str(raised.value)
    assert not list(layout.input.glob("part-*"))


def test_a_token_in_two_parts_is_refused(layout: RunLayout) -> None:
    reports = [replace(written(layout, part, "{}"), buckets=(1, part + 2)) for part in (0, 1)]
    with pytest.raises(apns_batch.StorageError, match="one token are in two parts"):
        accept(layout, reports)


def test_rows_that_change_later_are_not_sent(layout: RunLayout) -> None:
    (part,) = accept(layout, [written(layout, 0, "{}", "{}")])
    path = layout.input_of(0)
    path.write_bytes(b"{}\n[]\n")
    with pytest.raises(apns_batch.StorageError, match="sees other bytes"):
        check_frozen(layout, part)
    # After the first push, the ledger knows the input.
    layout.part(0).mkdir(parents=True)
    (layout.part(0) / "ledger").touch()
    check_frozen(layout, part)
    path.write_bytes(b"{}\n")
    with pytest.raises(apns_batch.StorageError, match="6 bytes were frozen, and this machine sees 3"):
        check_frozen(layout, part)
    # An earlier version has written no digest.
    check_frozen(layout, Part(0, "input/part-00000.json", 3, 1))


def test_rows_of_a_program_are_reported(layout: RunLayout) -> None:
    rows = [{"token": f"{number:064x}", "text": "x" * 5000} for number in range(1500)]
    parts = accept(layout, freeze_rows(rows, layout, 4))
    assert sum(part.rows for part in parts) == 1500
    assert all(part.bytes == layout.input_of(part.part).stat().st_size for part in parts)


def test_a_machine_that_does_not_share_the_directory(tmp_path: pathlib.Path) -> None:
    layout = RunLayout.of(tmp_path / "run")
    layout.root.mkdir()
    with driver_lock(layout.lock, 0):
        proof = Proof.begin(layout)
        proof.confirm(proof.show())
        elsewhere = replace(proof, run_dir=str(tmp_path / "elsewhere"))
        with pytest.raises(apns_batch.StorageError, match="cannot read it"):
            elsewhere.show()
        # A copy of yesterday.
        with pytest.raises(apns_batch.StorageError, match="reads another file"):
            replace(proof, content="1").show()
        # What it writes is seen by itself only.
        with pytest.raises(apns_batch.StorageError, match=r"worker7: .* is not seen"):
            proof.confirm(replace(proof.show(), name="x", host="worker7"))
        presence = proof.show()
        (layout.shared / presence.name).write_text("?")
        with pytest.raises(apns_batch.StorageError, match="is not seen"):
            proof.confirm(presence)
        proof.end()
        assert [path.name for path in layout.root.iterdir()] == ["lock"]
    proof = Proof.begin(layout)
    with pytest.raises(apns_batch.DriverGoneError):
        proof.show()


def test_faults_are_errors_again() -> None:
    fault = Fault.of(apns_batch.ConfigurationError("x"))
    assert type(fault.error()) is apns_batch.ConfigurationError
    assert type(Fault.of(OSError(28, "No space left")).error()) is apns_batch.StorageError
    # The program is there: its lock is not seen.
    assert type(Fault.of(apns_batch.DriverGoneError("x")).error()) is apns_batch.StorageError


@pytest.mark.parametrize(
    "path", ["s3://bucket/x", "dbfs:/x", "file:///x", "hdfs:x", "abfss://a@b/c", "runs/{date}", "x/{{ ds }}"]
)
def test_what_is_no_directory_is_refused(path: str, tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(apns_batch.ConfigurationError, match="run_dir: "):
        RunLayout.of(path)
    with pytest.raises(apns_batch.ConfigurationError, match="run_dir: "):
        apns_batch.open(path)
    assert list(tmp_path.iterdir()) == []
