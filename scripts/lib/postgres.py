"""A server of PostgreSQL for measuring scripts, with a cluster of its own that listens on a socket only."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import peers

TEMPLATE = peers.ROOT / "Tests" / "Fixtures" / "campaign" / "plain.json"


class Cluster:
    def __init__(self):
        versions = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
        if not versions:
            sys.exit("PostgreSQL is not installed")
        self.programs = versions[-1]
        # The server does not run as root.
        self.user = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.geteuid() == 0 else []
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="apns-batch-pg-", dir="/tmp"))
        if self.user:
            shutil.chown(self.directory, "postgres", "postgres")
        subprocess.run(
            [*self.user, self.programs / "initdb", "-N", "-A", "trust", "-U", "tester", "-E", "UTF8", "--locale=C",
             "-D", self.directory / "data"],
            check=True, stdout=subprocess.DEVNULL, cwd="/tmp")
        self.process = None
        self.start()

    @property
    def connection(self):
        return f"host={self.directory} user=tester dbname=postgres"

    def start(self):
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(
                [*self.user, self.programs / "postgres", "-D", self.directory / "data", "-k", self.directory,
                 "-c", "listen_addresses=", "-c", "max_wal_size=4GB"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/tmp")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if self.psql("SELECT 1", check=False).returncode == 0:
                return
            if self.process.poll() is not None:
                # Processes of one that was killed may still end.
                time.sleep(0.2)
                return self.start()
            time.sleep(0.05)
        sys.exit(f"PostgreSQL does not answer:\n{(self.directory / 'log').read_text()}")

    def kill(self):
        """Kills the main process, as a lack of memory does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(60)
        shutil.rmtree(self.directory, ignore_errors=True)

    def psql(self, sql, check=True, **options):
        return subprocess.run(
            ["psql", "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-d", self.connection, "-c", sql],
            check=check, capture_output=True, text=True, **options)

    def create_results(self, directory, table):
        """Makes a table for results, as the command does, from a run of one row."""
        run = directory / f"run-of-{table}"
        (directory / "one.csv").write_text(f"token,name\n{'ab' * 32},Ada\n")
        peers.run(peers.BINARY, "send", "--input", directory / "one.csv", "--template", TEMPLATE, "--to", "simulator",
                  "--run-dir", run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        peers.run(peers.BINARY, "export", run, "--to", self.connection, "--table", table, "--create",
                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.psql(f"TRUNCATE {table}")

    def number(self, sql):
        return int(self.psql(sql).stdout or 0)
