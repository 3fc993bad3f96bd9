"""What becomes of the sender when the server is far away, or slow."""

import pathlib
import statistics
import struct
import subprocess
import tempfile
import time

from bench.clients import H2load, Ours
from bench.figures import Figure
from bench.stage import CLIENT_CPU
from peers import say

DELAY_MS = 100
# Answer times, the seconds within which all streams have to be in use, and the share of the most that then has to be answered.
SLOW = ((500, 10), (1000, 20))
SHARE = 0.9
LIMITED_RATE = 20_000


def alternating(rounds, *runs):
    """The samples of each run, a client and a port, in rounds that alternate."""
    return list(zip(*([client.measure(port) for client, port in runs] for _ in range(rounds))))


def medians(samples):
    """Processor time per notification of each run, in microseconds."""
    return [statistics.median(sample.micro for sample in group) for group in samples]


def in_turns(stage, rounds, client, **script):
    """Samples without a script and with it, in rounds that alternate."""
    with stage.simulator() as plain, stage.simulator(**script) as other:
        return alternating(rounds, (client, plain), (client, other))


def far_away(stage, rounds, rows):
    """Throughput with every answer held back, against none held back."""
    delay = {"distribution": "fixed", "median_ms": DELAY_MS}
    near, far = in_turns(stage, rounds, Ours(stage, rows=rows), latency=delay)
    rates = [statistics.median(sample.rate for sample in group) for group in (near, far)]
    connections = far[-1].summary["all_sessions"]["connections_opened"]
    say(f"{DELAY_MS} ms: {rates[1]:.0f} of {rates[0]:.0f} a second, {connections} connections")
    return Figure(f"throughput with {DELAY_MS} ms added to every answer", rates[1] / rates[0], at_least=0.9,
                  note=f"{rates[1]:.0f} of {rates[0]:.0f} a second")


def slow(stage):
    """The highest rate within the first seconds, while each answer takes long, against that with all streams in use."""
    for delay_ms, seconds in SLOW:
        with stage.simulator(latency={"distribution": "fixed", "median_ms": delay_ms}) as port:
            points = timeline(stage, port, seconds)
        # Requests of a burst are answered in one, so that a point may have none: over the time of two answers.
        width = max(1, 2 * delay_ms // 1000)
        rates = [(last[1] - first[1]) / (last[0] - first[0]) for first, last in zip(points, points[width:])]
        most = 32 * 1000 / delay_ms * 1000
        rate = max(rates, default=0)
        say(f"{delay_ms} ms: {rate:.0f} of {most:.0f} a second within {seconds} s, {points[-1][2]} connections")
        yield Figure(f"throughput within {seconds} s where answers take {delay_ms} ms", rate / most, at_least=SHARE,
                     note=f"{rate:.0f} of {most:.0f} a second")


def timeline(stage, port, seconds):
    """Seconds, accepted rows and connections at each second of the first ones of a run, which is stopped then."""
    client = Ours(stage, rows=1_000_000)
    run_directory = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=stage.directory))
    command = ["taskset", "--cpu-list", CLIENT_CPU, *client.command(port, run_directory)]
    with subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as sender:
        time.sleep(seconds + 1)
        sender.terminate()
    # docs/reference/timeline.md has the format.
    records = struct.iter_unpack("<192s", (run_directory / "timeline").read_bytes())
    points = [(*struct.unpack_from("<Q", record, 16), *struct.unpack_from("<Q", record, 32), *struct.unpack_from("<I", record, 172))
              for (record,) in records if record[0] == 3]
    return [(elapsed / 1000, *rest) for elapsed, *rest in points if elapsed <= 1000 * seconds + 500]


def limited(stage, rounds, rows):
    """Processor time per notification while answers come slowly, in bunches of a millisecond, against full speed."""
    for client, bound in ((Ours(stage, rows=rows), 1.25), (H2load(stage, 1), None)):
        micros = medians(in_turns(stage, rounds, client, answers_per_second=LIMITED_RATE))
        say(f"{LIMITED_RATE} a second, {client.name}: {micros[1]:.2f} µs, at full speed {micros[0]:.2f} µs")
        yield Figure(f"CPU per notification at {LIMITED_RATE} a second against full speed, {client.name}", micros[1] / micros[0],
                     at_most=bound, note=f"{micros[1]:.2f} and {micros[0]:.2f} µs")
