"""What a program that embeds the library pays: rows that it makes itself beside the same rows from a file."""

import peers
from bench.clients import Ours
from bench.efficiency import Series, take_rounds
from bench.figures import Figure
from bench.stage import HOST, TEMPLATE

PROGRAM = peers.BINARY.with_name("apns-batch-library-benchmarks")


class Embedded(Ours):
    """A program with the library in it; its rows come from a file, from values, or from a closure that writes them."""

    def __init__(self, stage, source, *flags):
        super().__init__(stage, *flags, program=PROGRAM)
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
            Embedded(stage, "writer", "--results"))]
    take_rounds(series, port, rounds)
    command, file, values, writer, results = (one.micro for one in series)
    return series, [
        Figure(f"library from a file against the command, {server}", file / command, at_most=1.05),
        Figure(f"values of a program against a file, {server}", values / file, at_most=1.1),
        Figure(f"rows that a program writes against a file, {server}", writer / file, at_most=1.1),
        Figure(f"the same with its results taken, {server}", results / file, at_most=1.2),
    ]


def figures(stage, rounds):
    with stage.nginx() as port:
        series, found = at(stage, "nginx", port, rounds)
    with stage.simulator() as port:
        more, further = at(stage, "simulator", port, rounds)
    return series + more, found + further
