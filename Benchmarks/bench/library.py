"""What a program that embeds the library pays: rows that it makes itself beside the same rows from a file,
and notifications that it sends one by one beside a campaign."""

import json
import re
import statistics

import peers
from bench.clients import H2load, Ours, Sample
from bench.efficiency import Series, take_rounds
from bench.figures import Figure
from bench.stage import CLIENT_CPU, HOST, TEMPLATE

PROGRAM = peers.BINARY.with_name("apns-batch-library-benchmarks")


class Embedded(Ours):
    """A program with the library in it; its rows come from a file, from values, or from a closure that writes them."""

    def __init__(self, stage, source, *flags, rows=None):
        super().__init__(stage, *flags, rows=rows, program=PROGRAM)
        self.source, self.name = source, " ".join(["library", source, *flags[:1]])

    def command(self, port, run_directory):
        return [
            self.program, self.source, "--rows", self.rows, "--input", self.stage.rows_file(self.rows),
            "--template", TEMPLATE, "--to", f"{HOST}:{port}", "--run-dir", run_directory,
            *peers.provider_flags(self.stage.directory), *self.flags,
        ]


def at(stage, server, port, rounds):
    series = [
        Series(client, server) for client in (
            Ours(stage), Embedded(stage, "file"), Embedded(stage, "values"), Embedded(stage, "writer"),
            Embedded(stage, "writer", "--results"), Embedded(stage, "writer", "--resumable"))]
    take_rounds(series, port, rounds)
    command, file, values, writer, results, kept = (one.micro for one in series)
    return series, [
        Figure(f"library from a file against the command, {server}", file / command, at_most=1.05),
        Figure(f"values of a program against a file, {server}", values / file, at_most=1.1),
        Figure(f"rows that a program writes against a file, {server}", writer / file, at_most=1.1),
        Figure(f"the same with its results taken, {server}", results / file, at_most=1.2),
        Figure(f"the same with its rows kept, {server}", kept / file, at_most=1.2),
    ]


class Sending(Embedded):
    """A program that sends with a sender: tasks that await one result after the other, or a sequence."""

    def __init__(self, stage, source, concurrent, rows=None):
        super().__init__(stage, source, rows=rows)
        self.concurrent, self.name = concurrent, f"{source} {concurrent}"
        self.times = []

    def command(self, port, run_directory=None):
        return [
            self.program, self.source, "--rows", self.rows, "--concurrent", self.concurrent, "--template", TEMPLATE,
            "--to", f"{HOST}:{port}", *peers.provider_flags(self.stage.directory), *self.flags,
        ]

    def measure(self, port):
        text, usage = peers.measured(self.command(port), cpu=CLIENT_CPU)
        self.times.append(json.loads(text.strip().splitlines()[-1]))
        return Sample(self.rows, usage)

    def time(self, name):
        return statistics.median(times[name] for times in self.times)


class Payloads(Ours):
    """A campaign whose rows bring their payloads, as the notifications of a sender do."""

    name = "apns-batch, payloads in rows"

    def command(self, port, run_directory):
        return [
            self.program, "send", "--input", payload_rows(self.stage, self.rows), "--to", f"{HOST}:{port}", "--run-dir",
            run_directory, *peers.provider_flags(self.stage.directory), *self.flags,
        ]


def payload_rows(stage, count):
    """The rows of the stage, with the payload that the template makes of each."""
    path = stage.directory / f"payloads-{count}.csv"
    if not path.exists():
        text = json.dumps(json.loads(TEMPLATE.read_text()), ensure_ascii=False, separators=(",", ":")).replace('"', '""')
        with open(stage.rows_file(count), encoding="utf-8") as rows, open(path, "w", encoding="utf-8") as file:
            next(rows)
            file.write("token,payload\n")
            for row in rows:
                token, name = row.rstrip("\n").split(",")
                file.write(f'{token},"{text.replace("{{name}}", name)}"\n')
    return path


def wire_time(stage, port):
    """The time of a lone request in microseconds, as h2load measures it."""
    peer = H2load(stage, 1)
    text, _ = peers.measured(peer.command(port, 1, 1, LONE_ROWS), cpu=CLIENT_CPU)
    number, unit = re.search(r"time for request: +\S+ +\S+ +([\d.]+)(us|ms|s)", text).groups()
    return float(number) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]


LONE_ROWS = 5000


def sending_at(stage, server, port, rounds):
    """Senders beside a campaign of the same notifications."""
    counts = [1, 100, 1000, 10_000]
    clients = [Sending(stage, "sends", count, rows=LONE_ROWS if count == 1 else None) for count in counts]
    clients.append(Sending(stage, "sequence", 1000))
    series = [Series(client, server) for client in (Ours(stage), *clients, Payloads(stage))]
    take_rounds(series, port, rounds)
    wire = wire_time(stage, port)
    campaign, payloads = series[0].micro, series[-1].micro
    found = []
    for one in series[1:-1]:
        client = one.client
        note = f"{one.micro:.2f} µs; {one.micro / payloads:.2f} of a campaign whose rows bring their payloads" + (
            "" if client.source == "sequence" else
            f"; a send takes {client.time('p50_us'):.0f} µs, p99 {client.time('p99_us'):.0f}, of which"
            f" {client.time('over_p50_us'):.0f} and {client.time('over_p99_us'):.0f} over the request's own")
        bound = {"at_most": 1.5} if client.concurrent >= 1000 else {}
        found.append(Figure(f"{client.name} against a campaign, {server}", one.micro / campaign, note=note, **bound))
    lone = clients[0].time("p50_us")
    found.append(
        Figure(
            f"a lone send over the wire's own time, {server}, µs", lone - wire, at_most=150,
            note=f"{lone:.0f} and {wire:.0f} µs"))
    return series, found


class Idle(Sending):
    """A program with a sender that has nothing to do."""

    def __init__(self, stage):
        super().__init__(stage, "idle", 10, rows=1000)

    def observe(self, port):
        text, _ = peers.measured(self.command(port), cpu=CLIENT_CPU)
        return json.loads(text.strip().splitlines()[0])


def idle_figures(stage, port):
    seen = Idle(stage).observe(port)
    return [
        Figure(
            "wake-ups of an idle sender in a second", seen["wake_ups"] / seen["seconds"], at_most=0.2,
            note=f"{seen['wake_ups']} in {seen['seconds']} s; a lane looks at its connections every 15 s"),
        Figure("pages that an idle sender takes", seen["pages"], form="{:.0f}", at_most=16),
    ]


def figures(stage, rounds):
    everything, found = [], []
    for server, serve in (("nginx", stage.nginx), ("simulator", stage.simulator)):
        with serve() as port:
            for measure in (at, sending_at):
                series, figures = measure(stage, server, port, rounds)
                everything += series
                found += figures
    with stage.simulator() as port:
        found += idle_figures(stage, port)
    return everything, found
