"""Sends a campaign to the rows of a table, which it makes itself here.

    python send.py RUN_DIR [ROWS]

Start it again with the same RUN_DIR, whatever has ended it: what is left is sent.
"""

import logging
import pathlib
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from apns_batch import spark as apns

logging.basicConfig(level=logging.INFO, format="%(message)s")
logging.getLogger("py4j").setLevel(logging.WARNING)

run_dir, rows = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
spark = SparkSession.builder.appName("good evening").getOrCreate()

# A query of a lake, such as: select token, first_name, badge, user_id from users where wants_pushes
users = spark.range(1, rows + 1).select(
    f.repeat(f.lpad(f.lower(f.hex("id")), 8, "0"), 8).alias("token"),
    f.when(f.col("id") % 3 > 0, f.concat(f.lit("Zoë "), f.col("id"))).alias("first_name"),
    (f.col("id") % 10).alias("badge"),
    f.col("id").alias("user_id"),
)

run = apns.send(
    users,
    campaign=pathlib.Path(__file__).parent / "campaign.yaml",
    run_dir=run_dir,
    senders=2,
    rate=20_000,
    canary=1000,
)
print(f"{run.summary.accepted} of {run.summary.rows} rows accepted, {run.summary.left} left")

# Tokens that their owner should delete.
gone = run.results.where("status = 410").select("user_id", "token", "timestamp")
print(f"{gone.count()} tokens are gone")
sys.exit(run.summary.exit_code)
