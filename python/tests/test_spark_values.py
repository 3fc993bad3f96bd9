"""Values, names and results of DataFrames: each cell of the table, and what is odd in other ways."""

from __future__ import annotations

import functools
import json
import pathlib
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest
from conftest import Campaign, Simulator, documented, tokens
from test_values import COLUMNS, check_lines, written_in
from value_table import TOKEN, USES, Arrives, Kind, Refused

import apns_batch
from apns_batch._needs import Needs
from apns_batch._rows import Line

pytest.importorskip("pyspark")
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from apns_batch import spark as apns
from apns_batch.spark._lines import check_columns, frame_lines, reasoned_lines

# One process has the session for all of them.
pytest_plugins = ["spark_session"]
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("one session")]

Start = Callable[..., Simulator]
Make = Callable[..., Campaign]


def frame_with(spark: SparkSession, use: str, value: str) -> DataFrame:
    """A row with a value of SQL in the column that a use reads."""
    if use == "token":
        return spark.sql(f"select {value} as token")
    if use == "payload":
        value = f"named_struct('aps', named_struct('alert', 'x'), 'v', {value})"
    return spark.sql(f"select '{TOKEN}' as token, {value} as {COLUMNS.get(use, 'v')}")


@pytest.mark.parametrize("use", USES)
def test_each_cell(spark: SparkSession, tmp_path: pathlib.Path, use: str) -> None:
    kinds: list[tuple[Kind, Arrives]] = []
    frames: list[DataFrame] = []
    for number, kind in enumerate(written_in("Spark")):
        frame = frame_with(spark, use, kind.written["Spark"][1])
        arrives = kind.arrives("Spark", use)
        if isinstance(arrives, Refused):
            with pytest.raises(apns_batch.ConfigurationError, match=arrives.reason) as refusal:
                Needs().fit(check_columns(frame))
            assert f"column {COLUMNS.get(use, 'v')}: " in str(refusal.value)
        else:
            assert check_columns(frame) == {}
            kinds.append((kind, arrives))
            frames.append(reasoned_lines(frame, Needs()).select(f.lit(number).alias("number"), "*"))
    found = functools.reduce(DataFrame.unionAll, frames).orderBy("number").collect()
    lines = [Line(row.token or "", row.line, row.reason) for row in found]
    check_lines(tmp_path, use, [(*each, line) for each, line in zip(kinds, lines, strict=True)])


def test_a_time_of_day_is_a_text(spark: SparkSession) -> None:
    if spark.version < "4.1":
        pytest.skip("this version has no times of day")
    spark.conf.set("spark.sql.timeType.enabled", "true")
    frame = spark.sql(f"select '{TOKEN}' as token, time'20:15:00' as v, array(time'20:15:00') as w")
    assert check_columns(frame) == {}
    assert '"v":"20:15:00","w":["20:15:00"]' in frame_lines(frame, Needs()).collect()[0].line


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("named_struct('t', timestamp_ntz'2026-11-29 20:00:00')", "expected a time with its zone"),
        ("array(unhex('00'))", "expected bytes in token only"),
        ("map(1, 'x')", "expected texts as keys of a map"),
        ("array(interval 2 months)", "expected a time or a number of seconds"),
        ("named_struct('a', array(named_struct('b', interval 1 second)))", "expected a time or a number"),
    ],
)
def test_types_within_types_are_refused(spark: SparkSession, value: str, reason: str) -> None:
    frame = spark.sql(f"select '{TOKEN}' as token, {value} as payload")
    with pytest.raises(apns_batch.ConfigurationError, match=f"column payload: {reason}"):
        Needs().fit(check_columns(frame))
    # What nobody needs does not matter, and is not written.
    needs = Needs({"name": ("template",)})
    needs.fit(check_columns(frame))
    assert frame_lines(frame, needs).collect()[0].line == f'{{"token":"{TOKEN}"}}'


def test_times_within_values(spark: SparkSession) -> None:
    value = "timestamp'2026-11-29 20:00:00+01:00'"
    frame = spark.sql(
        f"select '{TOKEN}' as token, named_struct('a', array({value}), 'm', map('k', {value}),"
        f" 'n', cast(null as timestamp), 's', cast(null as struct<t:timestamp>)) as payload, cast(null as timestamp) as t"
    )
    assert frame_lines(frame, Needs()).collect()[0].line == (
        f'{{"token":"{TOKEN}","payload":{{"a":["2026-11-29T19:00:00Z"],"m":{{"k":"2026-11-29T19:00:00Z"}}}},"t":null}}'
    )


@pytest.mark.parametrize("policy", ["LEGACY", "CORRECTED"])
def test_times_are_those_of_no_session(spark: SparkSession, policy: str) -> None:
    spark.conf.set("spark.sql.legacy.timeParserPolicy", policy)
    texts = [
        "2026-10-25 00:30:00.000001",
        "2026-10-25 01:30:00",
        "1969-12-31 23:59:59.25",
        "2026-04-04 14:30:00.5",
    ]
    frame = spark.createDataFrame([(f"{text}Z",) for text in texts], "text string").coalesce(1)
    frame = frame.select(f.lit(TOKEN).alias("token"), f.expr("cast(text as timestamp)").alias("t"))
    found = [row.line.partition('"t":')[2][:-1] for row in frame_lines(frame, Needs()).collect()]
    spark.conf.unset("spark.sql.legacy.timeParserPolicy")
    assert found == [
        *('"2026-10-25T00:30:00.000001Z"', '"2026-10-25T01:30:00Z"', '"1969-12-31T23:59:59.250000Z"'),
        '"2026-04-04T14:30:00.500000Z"',
    ]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_decimals_have_all_their_digits(spark: SparkSession, ansi: str) -> None:
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    texts = ["0.00000001", "-0.00000012", "0.00000000", "12345678901234567890.12345678", "-1.50000000"]
    frame = spark.createDataFrame([(text,) for text in texts], "text string").coalesce(1)
    frame = frame.select(f.lit(TOKEN).alias("token"), f.expr("cast(text as decimal(38,8))").alias("v"))
    lines = [row.line for row in frame_lines(frame, Needs()).collect()]
    assert lines == [f'{{"token":"{TOKEN}","v":"{text}"}}' for text in texts]
    spark.conf.unset("spark.sql.ansi.enabled")


def test_names_that_spark_does_not_like(spark: SparkSession) -> None:
    names = ["token", "user.id", "a`b", 'q"q', "line", "_metadata", "reason", "Name", "name", "Zoë", " "]
    frame = spark.createDataFrame([(TOKEN, *map(str, range(10)))], [f"x{n}" for n in range(11)]).toDF(*names)
    assert check_columns(frame) == {}
    line = frame_lines(frame, Needs()).collect()[0].line
    members = ['"user.id":"0"', '"a`b":"1"', r'"q\"q":"2"', '"line":"3"', '"_metadata":"4"', '"reason":"5"']
    members += ['"Name":"6"', '"name":"7"', '"Zoë":"8"', '" ":"9"']
    assert line == f'{{"token":"{TOKEN}",{",".join(members)}}}'


def test_names_that_are_refused(spark: SparkSession) -> None:
    twice = spark.sql("select 'aa' as token, 1 as x, 2 as x")
    with pytest.raises(apns_batch.ConfigurationError, match='two columns have the name "x"'):
        check_columns(twice)
    other = spark.sql("select 'aa' as Token")
    with pytest.raises(
        apns_batch.ConfigurationError, match='no column "token"; there are Token; did you mean "Token"'
    ):
        check_columns(other)
    stream = spark.readStream.format("rate").load().withColumn("token", f.lit("aa"))
    with pytest.raises(apns_batch.ConfigurationError, match="foreachBatch"):
        check_columns(stream)


def test_a_template_that_names_no_column(
    spark: SparkSession, start_simulator: Start, make_campaign: Make
) -> None:
    campaign = make_campaign(start_simulator())
    frame = spark.sql(f"select '{TOKEN}' as token, 'Ann' as Name, 7 as priorty")
    message = 'unknown column "name"; did you mean "Name"'
    with pytest.raises(apns_batch.ConfigurationError, match=message):
        apns.send(frame, campaign=campaign.path, run_dir=campaign.run_dir)
    assert not (campaign.run_dir / "input").exists()
    checked = apns.check(frame, campaign=campaign.path)
    assert not checked.is_ok
    assert message in checked.faults[0]
    renamed = apns.check(frame.toDF("token", "name", "priorty"), campaign=campaign.path, sample=0)
    assert (renamed.is_ok, renamed.rows) == (True, 0)
    assert any('did you mean "priority"' in warning for warning in renamed.warnings)
    assert campaign.simulator.received() == {}


def test_a_check_shows_rows(spark: SparkSession, start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), expiration="2h")
    frame = spark.createDataFrame(
        [(TOKEN, "Ann", 0.5), ("zz", "Bea", 0.5), (TOKEN.replace("1", "2"), "Cyd", float("nan"))],
        "token string, name string, v double",
    ).coalesce(1)
    checked = apns.check(frame, campaign=campaign.path, settings={"result_columns": "v"})
    assert [(each.row, each.rule) for each in checked.invalid] == [(2, "device-token"), (3, "row-value")]
    assert checked.invalid[1].message == "v: expected a finite number, found NaN"
    (shown,) = checked.notifications
    assert (shown.row, shown.payload) == (1, '{"aps":{"alert":"Hello, Ann"}}')
    assert shown.path == f"/3/device/{TOKEN}"
    assert campaign.simulator.received() == {}


def test_results_are_typed_and_join(
    spark: SparkSession, tmp_path: pathlib.Path, start_simulator: Start, make_campaign: Make
) -> None:
    script = "rules: [{ share: 0.5, status: 410, reason: Unregistered, timestamp: 1767225600000 }]\n"
    campaign = make_campaign(
        start_simulator(script),
        template=None,
        result_columns=["user.id", "Status", "part", "_x"],
        expiration="2h",
    )
    given = tokens(200)
    rows = [
        (
            token.upper(),
            number,
            f"s{number}",
            7.5,
            number if number % 2 else None,
            float("nan") if number == 9 else 1.0,
        )
        for number, token in enumerate(given)
    ]
    frame = spark.createDataFrame(
        rows, "token string, id bigint, s string, p double, badge int, n double"
    ).select(
        *("token", f.col("id").alias("user.id"), f.col("s").alias("Status"), f.col("p").alias("part")),
        f.col("n").alias("_x"),
        # Members without a value are left out: APNs takes no null for a badge.
        f.struct(f.struct(f.lit("x").alias("alert"), f.col("badge").alias("badge")).alias("aps")).alias(
            "payload"
        ),
    )
    run = apns.send(frame, campaign=campaign.path, run_dir=campaign.run_dir, parts=3)
    assert (run.summary.rows, run.summary.invalid) == (200, 1)
    received = campaign.simulator.received()
    assert received.keys() == set(given) - {given[9]}
    # As another job would, which has neither the frame nor the campaign.
    results = apns.results(spark, str(campaign.run_dir))
    types = dict(results.dtypes)
    assert types == {
        **{"part": "int", "row": "bigint", "token": "string", "outcome": "string", "status": "int"},
        **{"reason": "string", "timestamp": "timestamp", "apns_id": "string", "attempts": "int"},
        **{
            "apns_unique_id": "string",
            "user.id": "string",
            "column_Status": "string",
            "column_part": "string",
        },
        "_x": "string",
    }
    results.write.parquet(str(tmp_path / "results"))
    read = spark.read.parquet(str(tmp_path / "results"))
    assert read.dtypes == results.dtypes
    by_id = frame.alias("given").join(read.alias("found"), f.expr("given.`user.id` = found.`user.id`"))
    assert by_id.count() == 200
    by_token = frame.alias("given").join(read.alias("found"), f.expr("lower(given.token) = found.token"))
    assert by_token.where("given.Status = found.column_Status and found.column_part = '7.5'").count() == 200
    rejected = read.where("status = 410").collect()
    assert len(rejected) == run.summary.rejected > 0
    assert {row.reason for row in rejected} == {"Unregistered"}
    assert all(isinstance(row.timestamp, datetime) for row in rejected)
    (invalid,) = read.where("outcome = 'invalid'").collect()
    assert (invalid.token, invalid.reason) == (given[9], "_x: expected a finite number, found NaN")
    # The same by the package without Spark.
    found = {result.columns["user.id"]: result for result in apns_batch.results(campaign.run_dir)}
    assert found["9"].reason == invalid.reason
    moments = {result.timestamp for result in found.values() if result.status == 410}
    assert moments
    assert all(moment is not None and moment.tzinfo is timezone.utc for moment in moments)


def test_results_of_an_empty_run(spark: SparkSession, start_simulator: Start, make_campaign: Make) -> None:
    with pytest.raises(apns_batch.ConfigurationError, match="there is no run in parts"):
        apns.results(spark, "/nowhere")


def test_invalid_rows_leave_no_trace(spark: SparkSession) -> None:
    """A reason is a text of the row, whatever the column is called."""
    frame = spark.sql(f"select '{TOKEN}' as token, double('-infinity') as `a ! b\"c`")
    (row,) = reasoned_lines(frame, Needs()).collect()
    assert row.reason == 'a !b"c: expected a finite number, found -infinity'
    assert row.line.startswith(f'{{"token":"{TOKEN} ! a !b\\"c: expected')
    assert row.line.endswith(",!}")


def test_a_column_that_nothing_uses_is_not_computed(
    spark: SparkSession, start_simulator: Start, make_campaign: Make
) -> None:
    campaign = make_campaign(start_simulator())
    frame = spark.createDataFrame([(token, "x") for token in tokens(20)], "token string, name string").select(
        "*",
        f.lit(float("nan")).alias("score"),
        f.raise_error(f.lit("this column was computed")).alias("costly"),
        f.expr("array(timestamp_ntz'2026-11-29 20:00:00')").alias("made"),
        f.lit(1).alias(""),
    )
    assert apns.check(frame, campaign=campaign.path).is_ok
    run = apns.send(frame, campaign=campaign.path, run_dir=campaign.run_dir, parts=2)
    assert (run.summary.accepted, run.summary.invalid) == (20, 0)
    for path in campaign.run_dir.glob("input/*"):
        assert all(set(json.loads(line)) == {"token", "name"} for line in path.open())


def test_a_frame_with_another_schema_is_refused(
    spark: SparkSession, start_simulator: Start, make_campaign: Make
) -> None:
    campaign = make_campaign(start_simulator(), result_columns=["y"])
    arguments: dict[str, Any] = {"campaign": campaign.path, "run_dir": campaign.run_dir}
    apns.send(spark.sql(f"select '{TOKEN}' as token, 'x' as name, 'y' as y, 1 as `x z`"), **arguments)
    # Nothing uses the other columns.
    in_another_order = spark.sql(
        f"select 'y' as y, 'z' as `x z`, 'Rome' as city, '{TOKEN}' as token, 'x' as name"
    )
    assert apns.send(in_another_order, **arguments).was_complete
    other = spark.sql(f"select '{TOKEN}' as token, 'x' as name, bigint(1) as y, 5 as priority")
    message = r"other columns \(column priority \(int\) is new, column y was string and is bigint\)"
    with pytest.raises(apns_batch.ConfigurationError, match=message):
        apns.send(other, **arguments)


def test_results_join_as_documented(spark: SparkSession, start_simulator: Start, make_campaign: Make) -> None:
    campaign = make_campaign(start_simulator(), result_columns=["user_id"])
    given = [(token.upper(), "x", number) for number, token in enumerate(tokens(30), 1)]
    df = spark.createDataFrame(given, "token string, name string, user_id bigint")
    run = apns.send(df, campaign=campaign.path, run_dir=campaign.run_dir, parts=2)
    names: dict[str, Any] = {"df": df, "run": run, "f": f}
    exec(documented("values.md", "df.join"), names)  # noqa: S102, the example of the page
    for joined in (names["by_token"], names["by_user"]):
        assert sorted(joined.columns) == sorted([*df.columns, "outcome", "status", "reason", "timestamp"])
        found = joined.select("user_id", "token", "outcome").collect()
        assert sorted(row.user_id for row in found) == list(range(1, 31))
        assert {(row.outcome, row.token == row.token.upper()) for row in found} == {("accepted", True)}
    with pytest.raises(apns_batch.ConfigurationError, match=r"and no directory: .*run\.run_dir"):
        apns.results(spark, "/mnt/shared/{date}")


def test_a_token_may_have_what_separates_it_from_a_reason(
    spark: SparkSession, start_simulator: Start, make_campaign: Make
) -> None:
    campaign = make_campaign(start_simulator(), template=None, result_columns=["a ! b"])
    odd = ["aa ! bb", " ! ", "a !", "! ! x", "plain"]
    good = '\'{"aps":{"alert":"x"}}\''
    given = (
        [(token, float("nan")) for token in odd] + [("cc ! dd", 1.0)] + [(token, 1.0) for token in tokens(10)]
    )
    frame = spark.createDataFrame(given, "token string, `a ! b` double").withColumn("payload", f.expr(good))
    run = apns.send(frame, campaign=campaign.path, run_dir=campaign.run_dir, parts=1)
    found = {row.token: row.reason for row in run.results.where("outcome = 'invalid'").collect()}
    assert found.keys() == {*odd, "cc ! dd"}
    assert {found[token] for token in odd} == {"a !b: expected a finite number, found NaN"}
    same = {each.token: each.reason for each in apns_batch.results(campaign.run_dir) if each.reason}
    assert same == found
