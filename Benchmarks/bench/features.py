"""What a feature adds to a notification: processor time of the client with it, against the same run without it.

What cannot be switched off is in both: ledger, results, timeline, answer times, the register of tokens.
"""

import contextlib
import gzip
import json
import pathlib

import peers
import postgres
from bench.clients import Ours
from bench.efficiency import Series, named, take_rounds
from bench.figures import Figure
from bench.library import Embedded

# Bounds of the ratio. More than measured by what such ratios differ between runs.
BOUNDS = {
    "rate": 1.08,
    "result column": 1.08,
    "metrics, textfile": 1.08,
    "metrics, HTTP": 1.08,
    "spool": 1.15,
    # zlib itself takes 0.3 to 0.5 µs for tokens that do not compress; "inputs" holds ours against it.
    "gzip": 1.40,
    "zstd": 1.15,
    "NDJSON": 1.10,
    "PostgreSQL out": 1.30,
    "results as a stream": 1.15,
}


class Exporting(Ours):
    """Ours, with its results in a table of PostgreSQL that is emptied before each run."""

    def __init__(self, stage, cluster):
        super().__init__(stage)
        self.cluster = cluster
        cluster.create_results(stage.directory, "results")
        self.campaign = stage.directory / "exporting.yaml"
        self.campaign.write_text(json.dumps({"results_to": {"database": cluster.connection, "table": "results"}}))

    def command(self, port, run_directory):
        program, send, *rest = super().command(port, run_directory)
        return [program, send, self.campaign, *rest]

    def measure(self, port):
        self.cluster.psql("TRUNCATE results")
        sample = super().measure(port)
        if self.cluster.number("SELECT count(*) FROM results") != self.rows:
            raise SystemExit("the table does not have all results")
        return sample


def packed(stage):
    """The rows as gzip, zstd and NDJSON."""
    plain = stage.rows_file(stage.rows)
    forms = {name: plain.with_name(f"{plain.name}.{suffix}") for name, suffix in (("gzip", "gz"), ("zstd", "zst"))}
    forms["NDJSON"] = plain.with_suffix(".ndjson")
    with gzip.open(forms["gzip"], "wb", compresslevel=6) as file:
        file.write(plain.read_bytes())
    peers.run("zstd", "--quiet", "--force", plain, "-o", forms["zstd"])
    peers.run(peers.ROOT / "scripts" / "make-rows", stage.rows, "--plain", "--ndjson", "-o", forms["NDJSON"])
    return forms


def clients(stage, cluster):
    """Each with the one that it is compared with."""
    plain, program = named(Ours(stage), "plain"), named(Embedded(stage, "writer"), "library")
    forms = packed(stage)
    textfile = stage.directory / "metrics.prom"
    features = {
        # Above what the server answers, so that it never limits.
        "rate": Ours(stage, "--rate", "5000000/s"),
        "result column": Ours(stage, "--result-columns", "name"),
        "metrics, textfile": Ours(stage, "--metrics-textfile", textfile, "--metrics-interval", "1"),
        "metrics, HTTP": Ours(stage, "--metrics-listen", "127.0.0.1:0"),
        "spool": Ours(stage, "--spool", "always"),
        **{name: Ours(stage, input=path) for name, path in forms.items()},
    }
    if cluster:
        features["PostgreSQL out"] = Exporting(stage, cluster)
    pairs = [(named(client, name), plain) for name, client in features.items()]
    return pairs + [(named(Embedded(stage, "writer", "--results"), "results as a stream"), program)]


@contextlib.contextmanager
def database():
    """A server of PostgreSQL, or None where there is none."""
    if not any(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres")):
        yield None
        return
    cluster = postgres.Cluster()
    try:
        yield cluster
    finally:
        cluster.close()


def figures(stage, rounds):
    with database() as cluster, stage.simulator() as port:
        pairs = clients(stage, cluster)
        series = {client.name: Series(client, "simulator") for pair in pairs for client in pair}
        take_rounds(list(series.values()), port, rounds)
    for client, other in pairs:
        with_it, without = series[client.name].micro, series[other.name].micro
        yield Figure(f"with {client.name} against without", with_it / without, at_most=BOUNDS[client.name],
                     note=f"{with_it:.2f} and {without:.2f} µs")
    if cluster is None:
        yield Figure("with PostgreSQL out against without", None, note="no PostgreSQL here")
