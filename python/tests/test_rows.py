"""Rows of programs that are odd, the check of rows, and the results."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from conftest import Campaign, Program, Simulator, documented, rows, tokens, wait_until

import apns_batch
from apns_batch import Outcome
from apns_batch._layout import RunLayout
from apns_batch._manifest import Manifest, Part
from apns_batch._needs import Needs
from apns_batch._results import PartReader, frame_names, results_of
from apns_batch._rows import frozen_lines, rows_of

Start = Callable[..., Simulator]
Make = Callable[..., Campaign]
Run = Callable[..., Program]

TOKEN = tokens(1)[0]
NAIVE = datetime(2026, 11, 29, 20)


@dataclass
class Person:
    token: str
    name: str | None = None


class Pair(NamedTuple):
    token: str
    name: str | None = None


@dataclass
class Aps:
    alert: str
    badge: int | None = None


def line_of(**more: Any) -> dict[str, Any]:
    ((_, line),) = frozen_lines([{"token": TOKEN, **more}])
    found: dict[str, Any] = json.loads(line)
    return found


def reason_of(**more: Any) -> str:
    (line,) = rows_of([{"token": TOKEN, **more}]).lines()
    assert line.reason is not None
    with pytest.raises(json.JSONDecodeError):
        json.loads(line.text)
    return line.reason


@pytest.mark.parametrize(
    "row", [Person(TOKEN), Pair(TOKEN), OrderedDict(token=TOKEN, name=None), {"token": TOKEN, "name": None}]
)
def test_kinds_of_rows(row: Any) -> None:
    ((token, line),) = frozen_lines([row])
    assert (token, line) == (TOKEN, f'{{"token":"{TOKEN}","name":null}}')


def test_members_without_a_value() -> None:
    assert line_of(payload={"aps": Aps("x"), "none": None})["payload"] == {
        "aps": {"alert": "x"},
        "none": None,
    }


def test_numbers_keep_their_digits() -> None:
    given = [Decimal("1E+3"), Decimal("0E-8"), Decimal("1.10"), 10**30, -0.0, 2.0**53, 1e300]
    lines = [line for _, line in frozen_lines({"token": TOKEN, "v": value} for value in given)]
    found = [line.partition('"v":')[2][:-1] for line in lines]
    assert found == ["1000", "0.00000000", "1.10", str(10**30), "0", "9007199254740992.0", "1e+300"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"a": {1: 2}}, "v.a: expected texts as keys, found 1"),
        (
            {"a": [0, NAIVE]},
            "v.a.1: expected a time with its zone, found 2026-11-29 20:00:00, which has none",
        ),
        pytest.param(10**5000, "v: expected a number of fewer digits", id="digits"),
        (Decimal("1E+100000"), "v: expected a number of at most 5,000 places"),
        (Decimal("-Infinity"), "v: expected a finite number, found -infinity"),
        (b"x", "v: expected bytes in token only, found 1 bytes; write them as a text"),
        (object, "v: expected a value of JSON, found a type"),
        (iter([1]), "v: expected a value of JSON, found a list_iterator"),
        (datetime.min.replace(tzinfo=timezone.max), "v: expected a time of the years 1 to 9999"),
    ],
)
def test_values_that_no_row_can_have(value: Any, reason: str) -> None:
    assert reason_of(v=value).startswith(reason)


def test_values_without_an_end() -> None:
    loop: list[Any] = []
    loop.append(loop)
    assert reason_of(v=loop) == "v: expected objects and arrays at most 63 deep, found deeper ones"


def test_values_of_numpy() -> None:
    np = pytest.importorskip("numpy")
    found = line_of(
        a=np.int64(5), b=np.float32(0.1), c=np.bool_(True), d=np.array([[1, 2], [3, 4]]), e=np.str_("x"),
        f=np.float64(3), g=np.datetime64("NaT"), h=np.float32(3), i=np.array(7),
    )  # fmt: skip
    del found["token"]
    assert found == dict(zip("abcdefghi", [5, 0.1, True, [[1, 2], [3, 4]], "x", 3, None, 3, 7], strict=True))
    assert "expected a time with its zone" in reason_of(v=np.array(["2026-11-29"], dtype="datetime64[ns]"))
    assert "expected a time with its zone" in reason_of(v=np.datetime64("2026-11-29T20:00:00", "ns"))
    assert "a finite number, found NaN" in reason_of(v=np.float32("nan"))


@pytest.mark.parametrize(
    ("token", "arrives"),
    [
        (None, None),
        (5, "hex digits in a text"),
        ("\ud800", "half of a surrogate"),
        (bytes.fromhex(TOKEN), TOKEN),
    ],
)
def test_tokens(token: Any, arrives: str | None) -> None:
    given = rows_of([{"token": "aa"}, {"token": token}])
    line = list(given.lines())[1]
    if line.reason is None:
        assert json.loads(line.text)["token"] == arrives
    else:
        assert arrives in line.reason if arrives else False


def test_names_that_are_no_texts() -> None:
    lines = list(rows_of([{"token": "aa", 1: "x"}, {"token": "aa", "\ud800": 1}, {"token": "aa"}]).lines())
    assert lines[0].reason == "row: expected texts as keys, found 1"
    assert lines[1].reason is not None
    assert "half of a surrogate pair" in lines[1].reason
    for line in lines:
        line.text.encode("utf-8")


def test_an_odd_row_spoils_no_other(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), result_columns=["name", "v"])
    given: list[Any] = [{**row, "v": "x"} for row in rows(20)]
    given[3]["v"] = float("nan")
    given[5]["name"] = "half \ud800"
    given[7]["token"] = None
    given[9]["v"] = NAIVE
    del given[11]["token"]
    run = apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir, parts=2)
    assert (run.summary.rows, run.summary.accepted, run.summary.invalid) == (20, 15, 5)
    assert apns_batch.verify(campaign.run_dir).is_sound
    invalid = [result for result in run.results if result.outcome is Outcome.INVALID]
    by_token = {result.token: result for result in invalid}
    assert by_token[tokens(20)[3]].reason == "v: expected a finite number, found NaN"
    assert by_token[tokens(20)[3]].columns["name"] == "somebody 4"
    found = "name: expected a text, found half of a surrogate pair at character 6"
    assert by_token[tokens(20)[5]].reason == found
    assert by_token[tokens(20)[9]].reason == (
        "v: expected a time with its zone, found 2026-11-29 20:00:00, which has none"
    )
    nothing = [result.reason for result in invalid if not result.token]
    assert len(nothing) == 2
    assert all("token: expected hex digits, found nothing" in (reason or "") for reason in nothing)
    assert campaign.simulator.received().keys() == {
        result.token for result in run.results if result.status == 200
    }


def test_what_a_generator_raises_is_raised(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator())

    def given() -> Iterator[Any]:
        yield from rows(2000)
        raise LookupError("the database is gone")

    with pytest.raises(LookupError, match="the database is gone"):
        apns_batch.run(given(), campaign=campaign.path, run_dir=campaign.run_dir)
    assert apns_batch.run(rows(10), campaign=campaign.path, run_dir=campaign.run_dir).summary.accepted == 10


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_frames_are_sent(start_simulator: Start, make_campaign: Make, package: str) -> None:
    module: Any = pytest.importorskip(package)
    campaign = make_campaign(start_simulator())
    # More rows than are taken at once.
    columns = {"token": tokens(9000), "name": ["somebody"] * 9000}
    frame = module.table(columns) if package == "pyarrow" else module.DataFrame(columns)
    run = apns_batch.run(frame, campaign=campaign.path, run_dir=campaign.run_dir)
    assert run.summary.accepted == 9000
    assert campaign.simulator.received().keys() == set(tokens(9000))


def test_frames_that_are_refused() -> None:
    pd: Any = pytest.importorskip("pandas")
    pl: Any = pytest.importorskip("polars")
    pa: Any = pytest.importorskip("pyarrow")
    given: list[tuple[Any, str]] = [
        (pd.DataFrame([[1, 2]], columns=["token", "token"]), 'two columns have the name "token"'),
        (pd.DataFrame({0: ["aa"], "token": ["aa"]}), "column 0: expected a text as name, found a int"),
        (pd.DataFrame({"Token": ["aa"]}), 'did you mean "Token"'),
        (pd.DataFrame({"token": [1]}), "column token: expected texts or bytes, found int64"),
        (pd.Series(["aa"]), "expected a DataFrame of pandas, found a Series"),
        (pl.DataFrame({"token": ["aa"]}).lazy(), "expected a DataFrame of polars, found a LazyFrame"),
        (pa.table([["aa"], ["aa"]], names=["token", "token"]), 'two columns have the name "token"'),
    ]
    for frame, message in given:
        with pytest.raises(apns_batch.ConfigurationError, match=message):
            assert rows_of(frame).columns is None


def test_a_column_that_nobody_needs_is_left_out() -> None:
    pd: Any = pytest.importorskip("pandas")
    frame = pd.DataFrame({"token": ["aa"], "name": ["x"], "made": [pd.Timestamp(NAIVE)]})
    (line,) = rows_of(frame).fit(Needs({"name": ("t.json:1:2",)})).lines()
    assert line.text == '{"token":"aa","name":"x"}'
    message = r"column made: expected a time with its zone, .* \(used by t\.json:1:2\)"
    with pytest.raises(apns_batch.ConfigurationError, match=message):
        rows_of(frame).fit(Needs({"made": ("t.json:1:2",)}))


@pytest.mark.parametrize("source", ["Python", "pandas", "polars", "pyarrow"])
def test_a_column_that_nothing_uses_spoils_no_row(
    start_simulator: Start, make_campaign: Make, source: str
) -> None:
    campaign = make_campaign(start_simulator(), result_columns=["city"])
    content: dict[str, Any] = {
        **{name: [row[name] for row in rows(3)] for name in ("token", "name")},
        **{
            "city": ["x", "y", "z"],
            "score": [1.5, float("nan"), float("inf")],
            "made": [NAIVE] * 3,
            "": [1, 2, 3],
        },
    }
    given: Any = [dict(zip(content, values, strict=True)) for values in zip(*content.values(), strict=True)]
    if source == "Python":
        given += [{**row, "city": "x", 7: object(), "\ud800": 1} for row in rows(1100)[3:]]
        # Which no row before has.
        given[-1]["expiration"] = 0
    else:
        module: Any = pytest.importorskip(source)
        given = module.table(content) if source == "pyarrow" else module.DataFrame(content)
    assert apns_batch.check(given, campaign=campaign.path).is_ok
    run = apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir, parts=1)
    assert run.summary.accepted == run.summary.rows == (1100 if source == "Python" else 3)
    lines = [json.loads(line) for line in (campaign.run_dir / "input" / "part-00000.json").open()]
    assert list(lines[0]) == ["token", "name", "city"]
    assert set(lines[-1]) == {"token", "name", "city", *(["expiration"] if source == "Python" else [])}


def test_uses_that_are_not_known_keep_all_columns() -> None:
    assert Needs().used(["a", "b"]) == ("a", "b")
    assert Needs({"b": ("template",)}).used(["a", "token", "b"]) == ("token", "b")


def test_the_command_says_which_columns_are_used(start_simulator: Start, make_campaign: Make) -> None:
    pl: Any = pytest.importorskip("polars")
    campaign = make_campaign(start_simulator())
    frame = pl.DataFrame({"token": [TOKEN], "name": ["x"], "made": [NAIVE], "expiration": [True]})
    found = apns_batch.check(frame, campaign=campaign.path)
    assert found.faults == (
        "column expiration: expected seconds since 1970 or times with their zone, found Boolean (used by expiration)",
    )
    run = apns_batch.run(frame.drop("expiration"), campaign=campaign.path, run_dir=campaign.run_dir)
    assert run.summary.accepted == 1


def test_columns_that_the_campaign_calls_otherwise(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), expiration="2h", columns={"name": "User\\.x.first"})
    pl: Any = pytest.importorskip("polars")
    frame = pl.DataFrame({"token": [TOKEN], "User.x": [{"first": "Ann"}]})
    (shown,) = apns_batch.check(frame, campaign=campaign.path).notifications
    assert shown.payload == '{"aps":{"alert":"Hello, Ann"}}'
    naive = frame.with_columns(pl.struct(pl.lit(NAIVE).alias("first")).alias("User.x"))
    (fault,) = apns_batch.check(naive, campaign=campaign.path).faults
    assert fault.startswith("column User.x: expected a time with its zone")
    other = make_campaign(campaign.simulator, columns={"token": "Address"})
    found = apns_batch.check([{"token": "aa", "Address": TOKEN, "name": "x"}], campaign=other.path)
    assert found.faults == (
        'columns: expected rows that have "token" under its own name; rename "Address" of the rows',
    )


def test_header_fields_of_other_types() -> None:
    pa: Any = pytest.importorskip("pyarrow")
    for name, values in (("priority", [True]), ("collapse_id", [[1]]), ("topic", [{"a": 1}])):
        with pytest.raises(apns_batch.ConfigurationError, match=f"column {name}: expected"):
            rows_of(pa.table({"token": ["aa"], name: values})).fit(Needs())
    rows_of(pa.table({"token": ["aa"], "priority": [5], "collapse_id": [7]})).fit(Needs())


def test_arrow_within_pandas() -> None:
    pd: Any = pytest.importorskip("pandas")
    pa: Any = pytest.importorskip("pyarrow")
    kind = pd.ArrowDtype(pa.struct([("a", pa.int64()), ("b", pa.map_(pa.string(), pa.int64()))]))
    frame = pd.DataFrame({"token": ["aa"], "v": pd.Series([{"a": None, "b": [("k", None)]}], dtype=kind)})
    assert next(rows_of(frame).lines()).text == '{"token":"aa","v":{"b":{"k":null}}}'


def test_a_check_says_all(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), expiration="2h", badge=None)
    before = sorted(campaign.path.parent.iterdir())
    given: list[Any] = [
        *rows(3),
        {"token": "xyz", "name": "x"},
        {"token": TOKEN, "name": float("inf")},
        *rows(2000),
    ]
    found = apns_batch.check(given, campaign=campaign.path, sample=10, notifications=2)
    assert not found.is_ok
    assert found.rows == 10
    assert [(each.row, each.rule) for each in found.invalid] == [(4, "device-token"), (5, "row-value")]
    assert [each.token for each in found.invalid] == ["xyz", "00000001..."]
    text = str(found)
    assert text.startswith("the first 10 rows were looked at\n")
    assert (
        "row 5, token 00000001...: error: name: expected a finite number, found infinity [row-value]" in text
    )
    assert TOKEN not in text
    whole = apns_batch.check(rows(10), campaign=campaign.path, sample=10)
    assert str(whole) == "all 10 rows were looked at"
    by_default = apns_batch.check(({**row} for row in rows(1001)), campaign=campaign.path)
    assert (by_default.rows, str(by_default)) == (1000, "the first 1,000 rows were looked at")
    assert str(apns_batch.check(rows(5), campaign=campaign.path, sample=0)) == "no rows were looked at"
    assert found.invalid[0].message == 'token: expected hex digits, found "x" at byte 1'
    assert found.invalid[1].message == "name: expected a finite number, found infinity"
    assert [each.payload for each in found.notifications] == [
        f'{{"aps":{{"alert":"Hello, somebody {number}"}}}}' for number in (1, 2)
    ]
    assert found.notifications[0].headers["apns-topic"] == "com.example.app"
    # Rows 6 to 10 have the tokens of earlier ones.
    assert {each.rule for each in found.findings if not each.is_error} >= {"duplicate-token"}
    assert apns_batch.check(rows(5), campaign=campaign.path).is_ok
    assert sorted(campaign.path.parent.iterdir()) == before
    assert campaign.simulator.received() == {}


@pytest.mark.parametrize(
    ("given", "settings", "fault"),
    [
        ([{"token": "aa", "nmae": "x"}], {}, 'unknown column "name"; did you mean "nmae"'),
        ([{"token": "aa", "name": "x"}], {"priority": 7}, "priority"),
        ([{"name": "x"}], {}, 'no column "token"'),
        ([5], {}, "row 1: expected a mapping"),
        ([], {}, "there are no rows"),
        ([{"token": "aa", "name": "x"}], {"template": "/nowhere.json"}, "nowhere.json"),
        ([{"token": "aa", "name": "x"}], {"result_columns": "nam"}, 'did you mean "name"'),
    ],
)
def test_faults_of_a_check(
    start_simulator: Start, make_campaign: Make, given: Any, settings: dict[str, object], fault: str
) -> None:
    campaign = make_campaign(start_simulator())
    found = apns_batch.check(given, campaign=campaign.path, settings=settings)
    assert not found.is_ok
    assert fault in "\n".join(found.faults)


def test_a_check_warns_of_columns(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), expiration="2h")
    found = apns_batch.check([{**row, "priorty": 5} for row in rows(3)], campaign=campaign.path)
    assert found.is_ok
    assert ['did you mean "priority"' in warning for warning in found.warnings] == [True]
    other = make_campaign(campaign.simulator)
    (warning,) = apns_batch.check(rows(3), campaign=other.path).warnings
    assert "so APNs stores a push for up to 30 days" in warning


def test_what_marks_an_invalid_row_is_no_column(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), expiration="2h")
    given: list[Any] = [{"token": token, "name": float("nan")} for token in tokens(3)]
    found = apns_batch.check(given, campaign=campaign.path)
    assert (len(found.invalid), found.warnings) == (3, ())
    assert {each.rule for each in found.findings} == {"row-value"}


def test_a_token_may_have_what_separates_it_from_a_reason(
    start_simulator: Start, make_campaign: Make
) -> None:
    campaign = make_campaign(start_simulator(), template=None, result_columns=["a ! b", "name"])
    odd = ["aa ! bb", " ! ", "a !", "! ! x", "plain"]
    given: list[Any] = [{"token": token, "a ! b": float("nan"), "name": "x"} for token in odd]
    given += [{"token": "cc ! dd", "a ! b": 1, "name": "x"}]
    given += [{**row, "a ! b": 1, "payload": {"aps": {"alert": "x"}}} for row in rows(10)]
    run = apns_batch.run(given, campaign=campaign.path, run_dir=campaign.run_dir)
    found = {result.token: result.reason or "" for result in run.results if result.outcome is Outcome.INVALID}
    assert found.keys() == {*odd, "cc ! dd"}
    assert {found[token] for token in odd} == {"a !b: expected a finite number, found NaN"}
    assert "expected hex digits" in found["cc ! dd"]


def test_results_have_types(start_simulator: Start, make_campaign: Make) -> None:
    script = "rules: [{ share: 0.3, status: 410, reason: Unregistered, timestamp: 1767225600000 }]\n"
    campaign = make_campaign(start_simulator(script), result_columns=["name", "Status"])
    run = apns_batch.run(
        [{**row, "Status": f"{number}"} for number, row in enumerate(rows(100))],
        campaign=campaign.path,
        run_dir=campaign.run_dir,
        parts=2,
    )
    found = {result.token: result for result in run.results}
    assert found.keys() == set(tokens(100))
    rejected = [result for result in found.values() if result.outcome is Outcome.REJECTED]
    assert 0 < len(rejected) < 100
    for result in found.values():
        assert isinstance(result.apns_id, UUID)
        assert (result.attempts, result.part in (0, 1), result.row > 0) == (1, True, True)
        assert result.columns.keys() == {"name", "Status"}
    assert {(result.status, result.reason) for result in rejected} == {(410, "Unregistered")}
    assert all(result.timestamp and result.timestamp.tzinfo is timezone.utc for result in rejected)
    assert json.loads(json.dumps(rejected[0].outcome)) == "rejected"
    _check_frames(run.results, len(rejected))


def test_results_join_as_documented(start_simulator: Start, make_campaign: Make) -> None:
    pd: Any = pytest.importorskip("pandas")
    campaign = make_campaign(start_simulator(), result_columns=["user_id"])
    frame = pd.DataFrame(
        {"token": [token.upper() for token in tokens(30)], "name": "x", "user_id": range(1, 31)}
    )
    run = apns_batch.run(frame, campaign=campaign.path, run_dir=campaign.run_dir, parts=2)
    names: dict[str, Any] = {"frame": frame, "run": run, "pandas": pd}
    exec(documented("values.md", "frame.assign"), names)  # noqa: S102, the example of the page
    for joined in (names["by_token"], names["by_user"]):
        assert list(joined.columns) == [
            "token",
            "name",
            "user_id",
            "outcome",
            "status",
            "reason",
            "timestamp",
        ]
        assert (len(joined), set(joined["outcome"])) == (30, {"accepted"})
        assert sorted(joined["user_id"]) == list(range(1, 31))


def _check_frames(results: apns_batch.Results, rejected: int) -> None:
    names = ["part", "row", "token", "outcome", "status", "reason", "timestamp", "apns_id", "attempts"]
    names += ["apns_unique_id", "name", "column_Status"]
    pytest.importorskip("pandas")
    pandas = results.to_pandas()
    assert list(pandas.columns) == names
    assert (len(pandas), (pandas["status"] == 410).sum()) == (100, rejected)
    kinds = [
        "int32",
        "int64",
        "string",
        "string",
        "Int32",
        "string",
        "datetime64[ns, UTC]",
        "string",
        "int32",
    ]
    assert [str(kind) for kind in pandas.dtypes] == [*kinds, "string", "string", "string"]
    pl = pytest.importorskip("polars")
    polars = results.to_polars()
    assert polars.columns == names
    assert polars.schema["timestamp"] == pl.Datetime("ms", "UTC")
    assert polars.filter(pl.col("outcome") == "rejected").height == rejected
    pytest.importorskip("pyarrow")
    arrow = results.to_arrow()
    assert arrow.column_names == names
    assert str(arrow.schema.field("timestamp").type) == "timestamp[ms, tz=UTC]"
    assert arrow.num_rows == 100


def test_names_of_columns_in_frames() -> None:
    given = ["user.id", "Status", "part", "column_part", "x", "X"]
    assert frame_names(given) == [
        "user.id",
        "column_Status",
        "column_part",
        "column_column_part",
        "x",
        "column_X",
    ]


def test_results_are_followed(start_simulator: Start, make_campaign: Make, start_program: Run) -> None:
    campaign = make_campaign(start_simulator("answers_per_second: 2000\n"))
    program = start_program("local", campaign, rows=6000, parts=3)
    wait_until(lambda: (campaign.run_dir / "lock").exists())
    seen: list[tuple[int, int]] = []
    early = 0
    for result in apns_batch.results(campaign.run_dir, follow=True):
        seen.append((result.part, result.row))
        early += program.process.poll() is None
    assert (len(seen), len(set(seen))) == (6000, 6000)
    assert early > 1000
    program.result()


def test_following_ends_with_the_program(
    start_simulator: Start, make_campaign: Make, start_program: Run
) -> None:
    campaign = make_campaign(start_simulator("answers_per_second: 2000\n"))
    program = start_program("local", campaign, rows=20_000, parts=3)
    wait_until(lambda: (campaign.run_dir / "lock").exists())
    count = 0
    for _ in apns_batch.results(campaign.run_dir, follow=True):
        count += 1
        if count == 1000:
            program.kill()
    assert 1000 <= count < 20_000


def _torn(tmp_path: pathlib.Path, rows: int) -> tuple[PartReader, pathlib.Path]:
    layout = RunLayout.of(tmp_path)
    part = Part(0, "input/part-0", 1, rows)
    Manifest("0c5ae5a4-9d9b-4a3f-9a53-5b2b9a3f6f10", "x", "2026-01-01T00:00:00Z", "", (part,)).write(layout)
    path = results_of(layout, 0)
    path.parent.mkdir(parents=True)
    return PartReader(layout, part), path


HEAD = "row,token,outcome,status,reason,timestamp,apns_id,attempts,apns_unique_id,name\n"


def test_a_torn_line_is_waited_for(tmp_path: pathlib.Path) -> None:
    reader, path = _torn(tmp_path, 3)
    whole = (HEAD + '1,aa,accepted,200,,,,1,,"two\nlines, ""quoted"""\n2,bb,accepted,200,,,,1,,é\n').encode()
    found: list[apns_batch.Result] = []
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        found += reader.read()
        assert len(found) == (end >= whole.index(b"\n2,") + 1) + (end == len(whole))
    assert [result.columns["name"] for result in found] == ['two\nlines, "quoted"', "é"]
    assert reader.left == 1


def test_lines_that_a_resumed_sender_cuts_off(tmp_path: pathlib.Path) -> None:
    reader, path = _torn(tmp_path, 3)
    path.write_text(HEAD + "1,aa,accepted,200,,,,1,,x\n2,bb,accepted,200,,,,1,,x\n3,c")
    assert [result.row for result in reader.read()] == [1, 2]
    path.write_text(HEAD + "1,aa,accepted,200,,,,1,,x\n")
    assert list(reader.read()) == []
    with open(path, "a") as file:
        file.write("3,cc,accepted,200,,,,1,,x\n2,bb,accepted,200,,,,1,,x\n")
    assert [result.row for result in reader.read()] == [3]
    assert reader.left == 0


def test_a_file_that_was_cut_off_and_has_grown_again(tmp_path: pathlib.Path) -> None:
    reader, path = _torn(tmp_path, 4)
    path.write_text(HEAD + "1,aa,accepted,200,,,,1,,x\n2,bb,accepted,200,,,,1,,x\n3,c")
    assert [result.row for result in reader.read()] == [1, 2]
    # Between two looks, by a sender that was started again.
    path.write_text(
        HEAD
        + "1,aa,accepted,200,,,,1,,x\n4,dd,accepted,200,,,,1,,long\n2,bb,unknown,,,,,1,,x\n3,cc,unknown,,,,,1,,x\n"
    )
    assert [result.row for result in reader.read()] == [4, 3]
    assert reader.left == 0


def test_a_source_may_use_its_row_again(start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), template=None, result_columns=["name"])
    expected = tokens(1200)

    def source() -> Iterator[dict[str, Any]]:
        row: dict[str, Any] = {"payload": {"aps": {"alert": ""}}}
        for token in expected:
            row["token"] = row["name"] = row["payload"]["aps"]["alert"] = token
            yield row

    apns_batch.run(source(), campaign=campaign.path, run_dir=campaign.run_dir)
    frozen = [json.loads(line) for line in (campaign.run_dir / "input" / "part-00000.json").open()]
    assert all(row["token"] == row["name"] == row["payload"]["aps"]["alert"] for row in frozen)
    assert campaign.simulator.received() == dict.fromkeys(expected, (1, 1))


def test_following_waits_for_a_run_that_begins(
    start_simulator: Start, make_campaign: Make, tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    campaign = make_campaign(start_simulator())
    found: list[apns_batch.Result] = []
    thread = threading.Thread(
        target=lambda: found.extend(apns_batch.results(campaign.run_dir, follow=True)), daemon=True
    )
    thread.start()
    time.sleep(0.5)
    apns_batch.run(rows(30), campaign=campaign.path, run_dir=campaign.run_dir)
    thread.join(30)
    assert len(found) == 30
    monkeypatch.setattr("apns_batch._results._BEGIN_SECONDS", 0.5)
    with pytest.raises(apns_batch.ConfigurationError, match="there is no run in parts, and none was begun"):
        list(apns_batch.results(tmp_path, follow=True))


def test_a_first_row_is_looked_at_before_the_others() -> None:
    """A frame of millions of rows is not copied: a slice of it is taken at a time."""
    pl: Any = pytest.importorskip("polars")
    frame = pl.select(pl.lit("aa").alias("token")).select(pl.col("token").repeat_by(2_000_000).explode())
    lines = frozen_lines(frame)
    began = time.monotonic()
    next(lines)
    assert time.monotonic() - began < 1


def test_no_package_of_frames_is_imported() -> None:
    code = "import sys, apns_batch; print(*sorted({'numpy', 'pandas', 'polars', 'pyarrow', 'pyspark'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == ""
