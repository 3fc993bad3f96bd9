"""Sends the rows of a CSV with aioapns, a thousand at a time, and prints how many were accepted.

    aioapns_client.py ROWS TEMPLATE HOST:PORT KEY KEY_ID TEAM_ID TOPIC CA
"""

import asyncio
import csv
import os
import ssl
import sys

import aioapns
from aioapns.connection import APNsProductionClientProtocol

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "lib"))
from micro_peers import payload_function  # noqa: E402

AT_ONCE = 1000


async def work(client, rows, payload):
    accepted = 0
    for row in rows:
        request = aioapns.NotificationRequest(
            device_token=row["token"], message=payload(row["name"]), priority=10, push_type=aioapns.PushType.ALERT)
        answer = await client.send_notification(request)
        accepted += answer.is_successful
    return accepted


async def main(rows, template, server, key, key_id, team_id, topic, authority):
    host, _, port = server.rpartition(":")
    APNsProductionClientProtocol.APNS_SERVER = host
    APNsProductionClientProtocol.APNS_PORT = int(port)
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    with open(key, encoding="ascii") as file:
        client = aioapns.APNs(
            key=file.read(), key_id=key_id, team_id=team_id, topic=topic, ssl_context=context, max_connections=2)
    payload = payload_function(template)
    with open(rows, encoding="utf-8", newline="") as file:
        lines = csv.DictReader(file)
        print(sum(await asyncio.gather(*(work(client, lines, payload) for _ in range(AT_ONCE)))))


asyncio.run(main(*sys.argv[1:]))
