"""Sends rows that it makes itself, without Spark, and prints the summary."""

import json
import logging
import sys
from dataclasses import asdict

import apns_batch

arguments = json.loads(sys.argv[1])
logging.basicConfig(level=logging.INFO)
count = arguments.pop("rows", 0)
made = ({"token": f"{number:08x}" * 8, "name": f"somebody {number}"} for number in range(1, count + 1))
try:
    run = apns_batch.run(made, **arguments)
    print(json.dumps(asdict(run.summary)))
except apns_batch.ApnsBatchError as error:
    print(json.dumps({"error": type(error).__name__, "text": str(error)}))
