"""Sends a campaign to the rows of a table, which it makes itself here.

    python send.py RUN_DIR [ROWS]

Start it again with the same RUN_DIR, whatever has ended it: what is left is sent. Another night needs another RUN_DIR: one that is complete
stays so, whatever the rows are. The exit codes are those of the command apns-batch (docs/reference/exit-codes.md).
"""

import logging
import os
import pathlib
import sys

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from apns_batch import ApnsBatchError, ConfigurationError, SendingStoppedError, StorageError
from apns_batch import spark as apns

logging.basicConfig(level=logging.INFO, format="%(message)s")
logging.getLogger("py4j").setLevel(logging.WARNING)


def main(run_dir: str, rows: int) -> int:
    # Workers on this machine would run python3 of PATH, which need not have the package. A cluster has its own value.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.appName("good evening").getOrCreate()
    run = apns.send(
        users(spark, rows),
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
    return run.summary.exit_code


def users(spark: SparkSession, rows: int) -> DataFrame:
    """A query of a lake, such as: select token, first_name, badge, user_id from users where wants_pushes."""
    return spark.range(1, rows + 1).select(
        f.repeat(f.lpad(f.lower(f.hex("id")), 8, "0"), 8).alias("token"),
        f.when(f.col("id") % 3 > 0, f.concat(f.lit("Zoë "), f.col("id"))).alias("first_name"),
        (f.col("id") % 10).alias("badge"),
        f.col("id").alias("user_id"),
    )


def exit_code_of(error: ApnsBatchError) -> int:
    """64: a person must act. 69, 71, 75: it may pass, and the same call goes on."""
    match error:
        case SendingStoppedError():
            return error.exit_code
        case ConfigurationError():
            return 64
        case StorageError():
            return 71
        case _:
            return 75


if __name__ == "__main__":
    try:
        code = main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20_000)
    except ApnsBatchError as error:
        print(f"send.py: {error}", file=sys.stderr)
        code = exit_code_of(error)
    sys.exit(code)
