"""Sends the rows of a CSV file with Spark, for scripts/prove/spark-rows. Its argument is JSON: input, cores, and the keywords of send.

It prints the seconds that each step took, as JSON.
"""

import json
import logging
import sys
import time

began = time.monotonic()

from pyspark.sql import SparkSession  # noqa: E402

from apns_batch import spark as apns  # noqa: E402

logging.basicConfig(level=logging.INFO, format="%(message)s")
logging.getLogger("py4j").setLevel(logging.WARNING)
arguments = json.loads(sys.argv[1])
spark = (
    SparkSession.builder.master(f"local[{arguments.pop('cores')}]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.memory", "2g")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")
started = time.monotonic()
frame = spark.read.option("header", "true").option("escape", '"').option("multiLine", "true").csv(arguments.pop("input"))
run = apns.send(frame, **arguments)
sent = time.monotonic()
lines = run.results.count()
read = time.monotonic()
print("\n" + json.dumps({
    "start": started - began, "send": sent - started, "read": read - sent, "lines": lines,
    "accepted": run.summary.accepted, "rows": run.summary.rows,
}))
