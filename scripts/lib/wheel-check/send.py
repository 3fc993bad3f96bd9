"""Sends rows to a simulator, from an environment that has the wheel only.

python send.py CAMPAIGN RUN_DIR
"""

import sys

import apns_batch

rows = ({"token": f"{number:08x}" * 8, "name": f"somebody {number}"} for number in range(1, 10_001))
run = apns_batch.run(rows, campaign=sys.argv[1], run_dir=sys.argv[2], senders=2)
assert run.summary.accepted == 10_000, run.summary
assert apns_batch.verify(sys.argv[2]).is_sound
