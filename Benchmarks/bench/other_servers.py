"""A second opinion where the server of a figure is our own: servers that others wrote, and a relay that makes one far away."""

import contextlib
import getpass
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

import peers
from bench.clients import H2load, Ours
from bench.conditions import DELAY_MS, LIMITED_RATE, alternating, medians
from bench.efficiency import Series, take_rounds
from bench.figures import Figure
from bench.stage import BOTH_CPUS, SERVER_CPU, STREAMS, compiled
from peers import say


@contextlib.contextmanager
def on_its_core(command, port):
    with peers.server(
            ["taskset", "--cpu-list", SERVER_CPU, *command], port, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        yield port


@contextlib.contextmanager
def nghttpd(stage):
    """nghttp2's own server. It answers with the file that a path names: an empty one in memory, with a name for each row."""
    root = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        make_files(root / "3" / "device", stage)
        with peers.reserved_port() as port, on_its_core([
                "nghttpd", "--htdocs", root, "--workers", 1, "--max-concurrent-streams", STREAMS, "--address", "127.0.0.1", port,
                stage.directory / "key.pem", stage.directory / "cert.pem"], port):
            yield port
    finally:
        # Python would list them all, and the peak of its memory counts as that of the programs that it starts.
        peers.run("rm", "-r", root)


def make_files(folder, stage):
    """An empty file, and a name of it for each row."""
    folder.mkdir(parents=True)
    empty = folder / "empty"
    empty.touch()
    for token in stage.tokens():
        os.link(empty, folder / token)


@contextlib.contextmanager
def h2o(stage):
    """h2o with a handler in Ruby, which has read the body and answers 200."""
    with peers.reserved_port() as port:
        config = stage.directory / "h2o.yaml"
        config.write_text(json.dumps({
            "num-threads": 1, "user": getpass.getuser(), "http2-max-concurrent-requests-per-connection": STREAMS,
            "listen": {"host": "127.0.0.1", "port": port, "ssl": {
                "certificate-file": str(stage.directory / "cert.pem"), "key-file": str(stage.directory / "key.pem"),
                "neverbleed": "OFF", "ocsp-update-interval": 0}},
            "hosts": {"default": {"paths": {"/": {"mruby.handler": "Proc.new { |env| [200, {}, []] }"}}}},
        }))
        with on_its_core(["h2o", "--mode", "worker", "--conf", config], port):
            yield port


@contextlib.contextmanager
def relayed(stage, server_port, delay_ms):
    """A relay in front of a server, on the server's core: half of the delay each way."""
    relay = compiled(stage.directory, "relay")
    with peers.reserved_port() as port, on_its_core([relay, port, server_port, delay_ms * 500], port):
        yield port


def beside_h2load(stage, rounds):
    """Ours and h2load at the servers that are installed."""
    for name, server in (("nghttpd", nghttpd), ("h2o", h2o)):
        figure = f"CPU per notification against h2load, {name}"
        if not shutil.which(name):
            yield Figure(figure, None, note=f"{name} is not installed")
            continue
        with server(stage) as port:
            series = [Series(Ours(stage), name), Series(H2load(stage, 1), name)]
            take_rounds(series, port, rounds)
        ours, theirs = (one.micro for one in series)
        yield Figure(figure, ours / theirs, note=f"{ours:.2f} and {theirs:.2f} µs")


def far_away(stage, rounds):
    """Throughput at nginx behind a relay that delays, against the same relay without a delay."""
    with stage.nginx() as port, relayed(stage, port, 0) as near, relayed(stage, port, DELAY_MS) as far:
        client = Ours(stage)
        samples = alternating(rounds, (client, near), (client, far))
    rates = [statistics.median(sample.rate for sample in group) for group in samples]
    say(f"nginx behind a relay with {DELAY_MS} ms: {rates[1]:.0f} of {rates[0]:.0f} a second")
    return Figure(f"throughput at nginx behind a relay with {DELAY_MS} ms", rates[1] / rates[0],
                  note=f"{rates[1]:.0f} of {rates[0]:.0f} a second")


def paced(stage, rounds):
    """Processor time at nginx with a limit of our own, against full speed."""
    with stage.nginx() as port:
        slow = Ours(stage, "--rate", f"{LIMITED_RATE}/s", rows=min(stage.rows, 5 * LIMITED_RATE))
        samples = alternating(rounds, (Ours(stage), port), (slow, port))
    micros = medians(samples)
    return Figure(f"CPU per notification at nginx with a rate of {LIMITED_RATE}/s against full speed", micros[1] / micros[0],
                  note=f"{micros[1]:.2f} and {micros[0]:.2f} µs")


def two_lanes(stage, rounds):
    """Processor time at nginx with two lanes against one, both of which may use both cores."""
    clients = [Ours(stage, "--lanes", str(lanes), cpus=BOTH_CPUS) for lanes in (1, 2)]
    with stage.nginx() as port:
        samples = alternating(rounds, *((client, port) for client in clients))
    micros = medians(samples)
    return Figure("two lanes against one, CPU per notification, nginx", micros[1] / micros[0],
                  note=f"{micros[1]:.2f} and {micros[0]:.2f} µs")


def ten_times(stage, rounds, rows):
    """Time at `rows` against ten times that at a tenth, at nginx, which keeps nothing of a request."""
    with stage.nginx() as port:
        few = statistics.median(Ours(stage, rows=rows // 10).measure(port).usage.wall for _ in range(rounds))
        usage = Ours(stage, rows=rows).measure(port).usage
    return Figure(f"time at {rows} rows against 10 × a tenth, nginx", usage.wall / (10 * few),
                  note=f"{usage.wall:.1f} and {few:.2f} s; peak RSS {usage.peak_bytes / 2**20:.1f} MiB")


def figures(stage, rounds, rows):
    yield from beside_h2load(stage, rounds)
    yield far_away(stage, rounds)
    yield paced(stage, rounds)
    yield two_lanes(stage, rounds)
    yield ten_times(stage, rounds, rows)
