"""Sends a push for each row of a stream: here, of files of JSON that appear in a directory.

    python stream.py FILES_DIR STATE_DIR

Spark repeats the last batch after a failure, with the same number. The run directory of a batch is named after that number, so
that a repeated batch goes on where it ended, and sends nothing twice. Numbers begin with 0 again for a query whose checkpoint was removed, or
for another query: so the id of the query, which its checkpoint keeps, is in the name, too.
"""

import os
import pathlib
import sys

from pyspark.sql import DataFrame, SparkSession

from apns_batch import spark as apns

CAMPAIGN = pathlib.Path(__file__).parent / "campaign.yaml"


def send(batch: DataFrame, number: int, runs: pathlib.Path) -> None:
    if batch.isEmpty():
        return
    # Spark sets it while it handles a batch.
    query = batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    if query is None:
        raise RuntimeError("this is no batch of a query")
    run = apns.send(batch, campaign=CAMPAIGN, run_dir=runs / f"{query}-{number:08}", parts=1)
    print(f"batch {number}: {run.summary.accepted} of {run.summary.rows} rows accepted")


def main(files: str, state: pathlib.Path) -> None:
    # Workers on this machine would run python3 of PATH, which need not have the package. A cluster has its own value.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.appName("orders that are ready").getOrCreate()
    query = (
        spark.readStream.schema("token string, first_name string, badge int, user_id long")
        .json(files)
        .writeStream.foreachBatch(lambda batch, number: send(batch, number, state / "runs"))
        .option("checkpointLocation", str(state / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]).absolute())
