"""What becomes of the sender when the server is far away, or slow."""

import statistics

from bench.clients import H2load, Ours
from bench.figures import Figure
from peers import say

DELAY_MS = 100
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


def limited(stage, rounds, rows):
    """Processor time per notification while answers come slowly, in bunches of a millisecond, against full speed."""
    for client, bound in ((Ours(stage, rows=rows), 1.25), (H2load(stage, 1), None)):
        micros = medians(in_turns(stage, rounds, client, answers_per_second=LIMITED_RATE))
        say(f"{LIMITED_RATE} a second, {client.name}: {micros[1]:.2f} µs, at full speed {micros[0]:.2f} µs")
        yield Figure(f"CPU per notification at {LIMITED_RATE} a second against full speed, {client.name}", micros[1] / micros[0],
                     at_most=bound, note=f"{micros[1]:.2f} and {micros[0]:.2f} µs")
