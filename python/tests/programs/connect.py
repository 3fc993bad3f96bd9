"""Sends rows through Spark Connect, with a server in the same machine, and prints the summary and what the results say.

Keywords besides those of `send`: rows.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from apns_batch import spark as apns

arguments = json.loads(sys.argv[1])
spark = SparkSession.builder.remote("local[2]").getOrCreate()
token = f.repeat(f.lpad(f.lower(f.hex("id")), 8, "0"), 8).alias("token")
numbers = spark.range(1, arguments.pop("rows") + 1, 1, 3)
frame = numbers.select(token, f.concat(f.lit("somebody "), f.col("id")).alias("name"))
run = apns.send(frame, **arguments)
result = asdict(run.summary)
result["client"] = type(spark).__module__
result["checked"] = str(apns.check(frame, campaign=arguments["campaign"], sample=2))
result["read"] = run.results.where("outcome = 'accepted'").count()
result["names"] = run.results.select("name").distinct().count()
result["sound"] = apns.verify(spark, arguments["run_dir"]).is_sound
result["again"] = apns.send(frame, **arguments).was_complete
print("\n" + json.dumps(result), flush=True)
spark.stop()
