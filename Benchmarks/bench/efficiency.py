"""Processor time per notification: ours beside the others', in rounds that alternate, medians compared."""

import statistics

import peers
from bench import floor
from bench.clients import Aioapns, H2load, Ours
from bench.figures import Figure
from bench.stage import BOTH_CPUS
from peers import say


class Series:
    """The samples of one sender at one server."""

    def __init__(self, client, server):
        self.client, self.server = client, server
        self.samples = []

    def measure(self, port):
        self.samples.append(self.client.measure(port))

    @property
    def micro(self):
        return statistics.median(sample.micro for sample in self.samples)

    @property
    def rate(self):
        return statistics.median(sample.rate for sample in self.samples)

    def part(self, name):
        """Microseconds per notification of `user` or `system` time."""
        return statistics.median(getattr(sample.usage, name) * 1e6 / sample.rows for sample in self.samples)

    @property
    def connections(self):
        """Ours opened in each round."""
        return "/".join(str(sample.summary["all_sessions"]["connections_opened"]) for sample in self.samples)

    @property
    def peak_bytes(self):
        return max(sample.usage.peak_bytes for sample in self.samples)


def take_rounds(series, port, rounds, before_each=lambda: None):
    for number in range(1, rounds + 1):
        before_each()
        for one in series:
            one.measure(port)
        say(f"{series[0].server}, round {number}: " + ", ".join(
            f"{one.client.name} {one.samples[-1].micro:.2f} µs" for one in series))


def h2load_at_its_best(stage, port):
    """With one connection, or as many as ours opens: whichever costs it less."""
    connections = max(1, Ours(stage).measure(port).summary["all_sessions"]["connections_opened"])  # warms the file cache, too
    choices = [H2load(stage, count) for count in sorted({1, connections})]
    return min(choices, key=lambda client: client.measure(port).micro)


def at_nginx(stage, rounds):
    """Ours and h2load; gives their series."""
    with stage.nginx() as port:
        peer = h2load_at_its_best(stage, port)
        series = [Series(Ours(stage), "nginx"), Series(peer, "nginx")]
        take_rounds(series, port, rounds)
        start = peer.start(port)
    ours, theirs = series
    note = f"{ours.micro:.2f} and {theirs.micro:.2f} µs; connections: {ours.connections}, h2load {peer.connections}"
    figures = [
        Figure("CPU per notification against h2load, nginx", ours.micro / theirs.micro, at_most=0.38, note=note),
        Figure("the same, without h2load's start and list of URLs", ours.micro / (theirs.micro - start), at_most=0.45),
        Figure("ledger, share of CPU time, nginx", ledger_share(ours), at_most=0.03),
    ]
    return series, figures


def named(client, name):
    client.name = name
    return client


def forms(stage):
    """Ours as it is measured beside itself."""
    return [
        named(Ours(stage, "--loop", "epoll"), "apns-batch (epoll)"),
        named(Ours(stage, "--lanes", "1", cpus=BOTH_CPUS), "apns-batch (1 lane, both cores)"),
        named(Ours(stage, "--lanes", "2", cpus=BOTH_CPUS), "apns-batch (2 lanes, both cores)"),
    ]


def at_simulator(stage, rounds, aioapns_rows):
    """Ours in several forms, h2load, aioapns, and nghttp2 alone; gives the series of those that use the server."""
    python, problem = peers.python_with("aioapns==4.0")
    with stage.simulator() as port:
        clients = [Ours(stage), h2load_at_its_best(stage, port), *forms(stage)]
        if python:
            clients.append(Aioapns(stage, python, aioapns_rows))
        series = [Series(client, "simulator") for client in clients]
        floors = []
        take_rounds(series, port, rounds, lambda: floors.append(floor.nanoseconds()))
        slow = series[5].micro - clients[5].start(port) if python else None
    ours, theirs, epoll, one_lane, two_lanes = series[:5]
    floor_ns = statistics.median(floors)
    figures = [
        Figure("CPU per notification against h2load, simulator", ours.micro / theirs.micro, at_most=0.33,
               note=f"{ours.micro:.2f} and {theirs.micro:.2f} µs; connections: {ours.connections}, "
                    f"h2load {clients[1].connections}"),
        Figure("against the nghttp2 floor", ours.micro * 1000 / floor_ns, form="{:.2f}", at_most=1.3,
               note=f"{ours.micro * 1000:.0f} and {floor_ns:.0f} ns"),
        Figure("against aioapns without its start", ours.micro / slow if slow else None, form="{:.4f}", at_most=0.015,
               note=f"{slow:.0f} µs" if slow else problem),
        Figure("two lanes against one, CPU per notification", two_lanes.micro / one_lane.micro, at_most=1.08),
        Figure("epoll against io_uring, CPU per notification", epoll.micro / ours.micro),
        Figure("ledger, share of CPU time, simulator", ledger_share(ours)),
    ]
    return series, figures


def ledger_share(series):
    """Announcing, recording and syncing, on whatever thread, by the summary."""
    return statistics.median(
        process["ledger_cpu_seconds"] / process["cpu_seconds"]
        for process in (sample.summary["last_session"]["process"] for sample in series.samples))
