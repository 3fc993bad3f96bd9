"""The steps of scripts/prove/spark-kills, each a program of its own. Its argument is JSON: step, and what the step needs."""

import json
import logging
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from apns_batch import spark as apns

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
logging.getLogger("py4j").setLevel(logging.WARNING)


def session(master):
    spark = (
        SparkSession.builder.master(master)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "1500m")
        .config("spark.executor.memory", "1g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def make(spark, rows, path):
    token = f.sha2(f.col("id").cast("string"), 256)
    spark.range(1, rows + 1, 1, 8).select(token.alias("token"), f.concat(f.lit("somebody "), f.col("id")).alias("first_name"),
                                          f.col("id").alias("user_id")).write.parquet(path)
    return {"rows": spark.read.parquet(path).count()}


def send(spark, path, arguments):
    run = apns.send(spark.read.parquet(path), **arguments)
    return {"rows": run.summary.rows, "left": run.summary.left, "accepted": run.summary.accepted,
            "unknown": run.summary.unknown, "resent": run.summary.resent, "is_complete": run.summary.is_complete}


def results(spark, path, run_dir, to):
    """Writes the results as Parquet, and compares them with the input by Spark alone."""
    apns.results(spark, run_dir).write.parquet(to)
    found, given = spark.read.parquet(to), spark.read.parquet(path)
    joined = given.join(found, f.lower(given.token) == found.token, "full")
    return {
        "rows": given.count(), "results": found.count(), "tokens": found.select("token").distinct().count(),
        "unmatched": joined.where(given.token.isNull() | found.token.isNull()).count(),
        "outcomes": {row["outcome"]: row["count"] for row in found.groupBy("outcome").count().collect()},
        "sound": apns.verify(spark, run_dir).is_sound,
    }


arguments = json.loads(sys.argv[1])
step = {"make": make, "send": send, "results": results}[arguments.pop("step")]
spark = session(arguments.pop("master"))
print("\n" + json.dumps(step(spark, **arguments)), flush=True)
spark.stop()
