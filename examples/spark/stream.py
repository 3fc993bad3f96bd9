"""Sends a push for each row of a stream: here, of files of JSON that appear in a directory.

    python stream.py FILES_DIR STATE_DIR

Spark repeats the last batch after a failure, with the same number. The run directory of a batch is named after that number, so
that a repeated batch goes on where it ended, and sends nothing twice.
"""

import pathlib
import sys

from pyspark.sql import DataFrame, SparkSession

from apns_batch import spark as apns

files, state = sys.argv[1], pathlib.Path(sys.argv[2]).absolute()
spark = SparkSession.builder.appName("orders that are ready").getOrCreate()


def send(batch: DataFrame, number: int) -> None:
    if batch.isEmpty():
        return
    run = apns.send(
        batch,
        campaign=pathlib.Path(__file__).parent / "campaign.yaml",
        run_dir=state / "runs" / f"{number:08}",
        parts=1,
    )
    print(f"batch {number}: {run.summary.accepted} of {run.summary.rows} rows accepted")


query = (
    spark.readStream.schema("token string, first_name string, badge int, user_id long")
    .json(files)
    .writeStream.foreachBatch(send)
    .option("checkpointLocation", str(state / "checkpoint"))
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
