"""What nghttp2 alone takes for the same requests, memory to memory."""

import json

import peers
from bench.stage import CLIENT_CPU


def nanoseconds():
    program = peers.BINARY.with_name("apns-batch-micro-benchmarks")
    text, _ = peers.measured([program, "--only", "floor", "--rows", 1000, "--json"], cpu=CLIENT_CPU)
    return next(figure["value"] for figure in json.loads(text) if figure["name"] == "floor.total")
