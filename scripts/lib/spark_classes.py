"""Uses Spark as the tests do, so that the virtual machine can write an archive of the classes that it has loaded.

See scripts/lib/spark-environment. The virtual machine is told where to write it by -XX:ArchiveClassesAtExit.
"""

import sys

import pyarrow as pa
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as f


def same(batches):
    yield from batches


def main(directory: str) -> None:
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    numbers = spark.range(0, 1000, 1, 2).select("id", f.col("id").cast("string").alias("text"))
    more = spark.createDataFrame([(1, "a")], "id bigint, text string")
    frame = numbers.unionByName(more).join(numbers.limit(10).select("id"), "id", "left")
    frame.mapInArrow(same, frame.schema).write.mode("overwrite").parquet(directory + "/rows.parquet")
    spark.range(0, 2, 1, 2).mapInArrow(same, "id bigint", barrier=True).collect()
    rows = spark.read.parquet(directory + "/rows.parquet")
    rows.select(f.to_json(f.struct("*")).alias("value")).write.mode("overwrite").text(directory + "/rows.json")
    rows.write.mode("overwrite").csv(directory + "/rows.csv", header=True)
    spark.read.csv(directory + "/rows.csv", header=True).groupBy("text").count().orderBy("text").toPandas()
    spark.read.json(directory + "/rows.json").count()
    assert isinstance(rows.toArrow() if hasattr(rows, "toArrow") else pa.table({}), pa.Table)
    spark.stop()
    # The virtual machine ends with its standard input, and writes the archive then.
    gateway = SparkContext._gateway
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait()


main(sys.argv[1])
