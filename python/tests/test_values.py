"""Every cell of the table of values, through the command; and rows that are odd in other ways."""

from __future__ import annotations

import csv
import json
import pathlib
import subprocess
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from conftest import binary
from value_table import KINDS, SOURCES, TOKEN, USES, Arrives, Invalid, Kind, Refused

import apns_batch
from apns_batch._altered import plain
from apns_batch._needs import Needs
from apns_batch._results import result_of
from apns_batch._rows import Line, rows_of

TEMPLATES = {
    "text": {"aps": {"alert": "<{{v}}>"}},
    "number": {"aps": {"alert": "x"}, "v": "{{v:number}}"},
    "json": {"aps": {"alert": "x"}, "v": "{{v:json}}"},
    "expiration": {"aps": {"alert": "x"}},
    "token": {"aps": {"alert": "x"}},
    "payload": None,
}
COLUMNS = {"expiration": "expiration", "token": "token", "payload": "payload"}


def rows_with(source: str, use: str, value: Any) -> Any:
    """A row of a source, with a value in the column that a use reads."""
    column = COLUMNS.get(use, "v")
    if source == "Python":
        value = {"aps": {"alert": "x"}, "v": value} if use == "payload" else value
        return [{"token": TOKEN, column: value}]
    return FRAMES[source](column, value)


def _pandas(column: str, make: Callable[[Any], Any]) -> Any:
    import pandas as pd  # noqa: PLC0415

    values = make(pd)
    if column == "payload":
        values = pd.Series([{"aps": {"alert": "x"}, "v": values.iloc[0]}], dtype="object")
    return pd.DataFrame({"token": pd.Series([TOKEN]), **{column: values}})


def _polars(column: str, make: Callable[[Any], Any]) -> Any:
    import polars as pl  # noqa: PLC0415

    frame = pl.DataFrame({"token": [TOKEN], **{column: make(pl)}})
    if column == "payload":
        aps = pl.struct(pl.lit("x").alias("alert")).alias("aps")
        return frame.with_columns(pl.struct(aps, pl.col(column).alias("v")).alias(column))
    return frame


def _arrow(column: str, make: Callable[[Any], Any]) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    values = make(pa)
    if column == "payload":
        aps = pa.array([{"alert": "x"}])
        values = pa.StructArray.from_arrays([aps, values], ["aps", "v"])
    return pa.table({"token": [TOKEN], **{column: values}})


FRAMES: Mapping[str, Callable[[str, Callable[[Any], Any]], Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "Arrow": _arrow,
}


def line_of(source: str, use: str, value: Any) -> Line:
    """The line of a row. Raises ConfigurationError if its column is refused."""
    if source == "NDJSON":
        member = f'{{"aps":{{"alert":"x"}},"v":{value}}}' if use == "payload" else value
        if use == "token":
            return Line(TOKEN, f'{{"token":{member}}}')
        return Line(TOKEN, f'{{"token":"{TOKEN}","{COLUMNS.get(use, "v")}":{member}}}')
    (line,) = rows_of(rows_with(source, use, value)).fit(Needs()).lines()
    return line


def run(*command: str) -> str:
    done = subprocess.run([binary(), *command], check=False, capture_output=True, text=True)
    assert done.returncode in {0, 2}, done.stderr
    return done.stdout


def rendered(path: pathlib.Path, use: str, more: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """What the command would make of each row of a file."""
    template = path.with_name(f"{use}.json")
    template.write_text(json.dumps(TEMPLATES[use]), encoding="utf-8")
    flags = [] if TEMPLATES[use] is None else ["--template", str(template)]
    said = run(
        "render", "--input", str(path), "--topic", "com.example.app", "--rows", "0", "--json", *flags, *more
    )
    return [json.loads(line) for line in said.splitlines()]


def check_cell(expected: Arrives, shown: Mapping[str, Any], use: str, reason: str | None) -> None:
    """Compares what arrived with what the table says."""
    if isinstance(expected, Invalid):
        assert expected.reason in (reason or shown["invalid"])
        return
    assert "invalid" not in shown, shown
    payload = shown["payload"]
    found = {
        "text": lambda: json.loads(payload)["aps"]["alert"][1:-1],
        "expiration": lambda: shown["headers"].get("apns-expiration", ""),
        "token": lambda: shown["path"].rpartition("/")[2],
    }.get(use, lambda: payload.partition(',"v":')[2][:-1])()
    assert found == expected


def written_in(source: str) -> list[Kind]:
    return [kind for kind in KINDS if source in kind.written]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("source", [each for each in SOURCES if each not in {"CSV", "Spark"}])
def test_each_cell(tmp_path: pathlib.Path, source: str, use: str) -> None:
    if source in FRAMES:
        pytest.importorskip({"Arrow": "pyarrow"}.get(source, source))
    expected: list[tuple[Kind, Arrives, Line]] = []
    for kind in written_in(source):
        arrives = kind.arrives(source, use)
        if isinstance(arrives, Refused):
            with pytest.raises(apns_batch.ConfigurationError, match=arrives.reason) as refusal:
                line_of(source, use, kind.written[source][1])
            assert f"column {COLUMNS.get(use, 'v')}: " in str(refusal.value)
        else:
            expected.append((kind, arrives, line_of(source, use, kind.written[source][1])))
    check_lines(tmp_path, use, expected)


def check_lines(folder: pathlib.Path, use: str, expected: list[tuple[Kind, Arrives, Line]]) -> None:
    path = folder / "rows.ndjson"
    path.write_text("".join(line.text + "\n" for _, _, line in expected), encoding="utf-8")
    for (kind, arrives, line), shown in zip(expected, rendered(path, use), strict=True):
        try:
            check_cell(arrives, shown, use, line.reason)
        except (AssertionError, KeyError) as error:
            raise AssertionError(
                f"{kind.name} as {use}: expected {arrives}, found {shown}, {line}"
            ) from error
    if use == "text":
        check_results(folder, path, expected)


def check_results(
    folder: pathlib.Path, path: pathlib.Path, expected: list[tuple[Kind, Arrives, Line]]
) -> None:
    """A result column is the same text, and a row that could not be written has its token and its reason."""
    (folder / "plain.json").write_text('{"aps":{"alert":"x"}}')
    run(
        *(
            "send",
            "--input",
            str(path),
            "--template",
            str(folder / "plain.json"),
            "--topic",
            "com.example.app",
        ),
        *(
            "--to",
            "simulator",
            "--run-dir",
            str(folder / "run"),
            "--result-columns",
            "v",
            "--stop-at",
            "invalid=never",
        ),
    )
    with open(folder / "run" / "results.csv", newline="", encoding="utf-8") as file:
        lines = [{name: plain(text) for name, text in line.items()} for line in csv.DictReader(file)]
    results = {result.row: result for result in (result_of(0, line) for line in lines)}
    for number, (kind, arrives, line) in enumerate(expected, 1):
        result = results[number]
        assert result.token == TOKEN, kind
        if isinstance(arrives, Invalid):
            assert result.outcome == apns_batch.Outcome.INVALID, kind
            assert line.reason is None or result.reason == line.reason
        else:
            assert (result.outcome, result.columns["v"]) == ("accepted", arrives), kind


@pytest.mark.parametrize("use", USES)
def test_each_cell_of_csv(tmp_path: pathlib.Path, use: str) -> None:
    kinds = written_in("CSV")
    path = tmp_path / "rows.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        column = COLUMNS.get(use, "v")
        writer.writerow(["token"] if use == "token" else ["token", column])
        for kind in kinds:
            text = kind.written["CSV"][1]
            if use == "payload":
                text = f'{{"aps":{{"alert":"x"}},"v":{kind.written["NDJSON"][1]}}}'
            writer.writerow([text] if use == "token" else [TOKEN, text])
    shown = rendered(path, use)
    for kind, each in zip(kinds, shown, strict=True):
        check_cell(kind.arrives("CSV", use), each, use, None)


def as_texts(rows: Iterable[Any]) -> list[str]:
    return [line.text for line in rows_of(rows).lines()]
