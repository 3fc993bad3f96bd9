"""Sends rows that Spark makes, and prints the summary.

Keywords besides those of `send`: master, conf, rows, frame (plain, random or texts), job (before: what else the program does).
"""

from __future__ import annotations

import json
import logging
import os
import sys
from dataclasses import asdict
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import apns_batch
from apns_batch import spark as apns

PARTITIONS = 6


def session(master: str, conf: dict[str, str]) -> SparkSession:
    source = os.path.dirname(os.path.dirname(apns_batch.__file__))
    builder = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.executor.memory", "768m")
        .config("spark.executor.cores", "1")
        .config("spark.sql.shuffle.partitions", str(PARTITIONS))
        .config("spark.executorEnv.APNS_BATCH", os.environ["APNS_BATCH"])
        .config("spark.executorEnv.PYTHONPATH", source)
    )
    for name, value in conf.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def frame_of(spark: SparkSession, kind: str, count: int, texts: list[str | None]) -> DataFrame:
    numbers = spark.range(1, count + 1, 1, PARTITIONS)
    token = f.repeat(f.lpad(f.lower(f.hex("id")), 8, "0"), 8).alias("token")
    if kind == "texts":
        given = [(f"{number:08x}" * 8, text) for number, text in enumerate(texts, 1)]
        frame = spark.createDataFrame(given, "token string, name string")
        # A name that is altered in results.csv, and that looks like a field of a struct.
        return frame.withColumn("=a.`b", f.col("name"))
    if kind == "random":
        return numbers.select(token, f.rand().cast("string").alias("name")).repartition(PARTITIONS)
    return numbers.select(token, f.concat(f.lit("somebody "), f.col("id")).alias("name"))


def main(arguments: dict[str, Any]) -> None:
    logging.basicConfig(level=logging.INFO)
    spark = session(arguments.pop("master", "local-cluster[2,1,1024]"), arguments.pop("conf", {}))
    spark.sparkContext.setLogLevel("ERROR")
    kind, count = arguments.pop("frame", "plain"), arguments.pop("rows", 0)
    frame = frame_of(spark, kind, count, arguments.pop("texts", []))
    reads = arguments.pop("reads", 0)
    try:
        run = apns.send(frame, **arguments)
        result = asdict(run.summary)
        for _ in range(reads):
            run.results.explain()
            result["read"] = run.results.cache().count()
        if kind == "texts":
            lines = run.results.collect()
            result["names"] = {row["token"]: row["name"] for row in lines}
            result["same"] = {row["token"]: row["=a.`b"] for row in lines}
        if reads:
            result["columns"] = run.results.columns
            result["tokens"] = run.results.select("token").distinct().count()
            result["sound"] = apns.verify(spark, arguments["run_dir"]).is_sound
    except Exception as error:
        result = {"error": type(error).__name__, "text": str(error)[:4000]}
    # Spark writes to standard output, too.
    print("\n" + json.dumps(result), flush=True)
    spark.stop()


main(json.loads(sys.argv[1]))
