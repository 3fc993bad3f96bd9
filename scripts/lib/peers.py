"""What the measuring scripts share: certificates and keys, a free port, servers, children with their resource usage."""

import contextlib
import csv
import datetime
import functools
import json
import os
import pathlib
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = ROOT / ".build" / "release" / "apns-batch"
TOPIC = "com.example.app"
KEY_ID = "ABC123DEFG"
TEAM_ID = "DEF123GHIJ"


def say(text):
    print(f"==> {text}", file=sys.stderr, flush=True)


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def attempt(*command):
    """Runs a command that may fail or not exist; its output is captured."""
    command = [str(part) for part in command]
    try:
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    except FileNotFoundError as error:
        return subprocess.CompletedProcess(command, 127, "", str(error))


def build_release(product="apns-batch"):
    run(ROOT / "scripts" / "install-packages", "build", "test")
    say(f"building {product} (release)")
    built = attempt(
        "swift", "build", "--package-path", ROOT, "--configuration", "release", "--product", product)
    if built.returncode != 0:
        sys.exit(built.stdout + built.stderr + "the build failed")


def python_with(package):
    """A Python that has a package of PyPI, in an environment that is made once; or None, and why."""
    environment = ROOT / ".build-bench" / package.partition("==")[0]
    python = environment / "bin" / "python"
    if not python.exists():
        made = attempt("/usr/bin/python3", "-m", "venv", environment)
        if made.returncode != 0:
            return None, (made.stdout + made.stderr).strip().split("\n")[-1]
    got = attempt(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package)
    return (python, "") if got.returncode == 0 else (None, got.stderr.strip().split("\n")[-1])


@functools.cache
def spark_python():
    """The Python of the environment with the newest Spark, which is made if it is not there."""
    folder = subprocess.run([ROOT / "scripts" / "lib" / "spark-environment", "newest"], check=True, text=True, stdout=subprocess.PIPE)
    return pathlib.Path(folder.stdout.strip()) / "bin" / "python"


def spark_command(program, arguments):
    """A program of scripts/lib that uses Spark, with its argument as JSON; and its environment."""
    environment = {
        **os.environ, "APNS_BATCH": str(BINARY), "PYTHONPATH": str(ROOT / "python" / "src"), "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": str(spark_python()),
    }
    return [spark_python(), ROOT / "scripts" / "lib" / program, json.dumps(arguments)], environment


@contextlib.contextmanager
def scratch_directory(keep=None):
    """A new directory, gone afterwards unless `keep` names one."""
    if keep:
        os.makedirs(keep, exist_ok=True)
        yield pathlib.Path(keep).resolve()
        return
    path = pathlib.Path(tempfile.mkdtemp(prefix="apns-batch-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def make_credentials(directory):
    """ca.pem, cert.pem and key.pem of a server, AuthKey.p8 and AuthKey.pub.pem of a provider."""
    run(ROOT / "scripts" / "make-test-certs", directory)
    key = directory / "AuthKey.p8"
    if not key.exists():
        run("openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key,
            stderr=subprocess.DEVNULL)
        run("openssl", "pkey", "-in", key, "-pubout", "-out", directory / "AuthKey.pub.pem")


def provider_flags(directory):
    return [
        "--topic", TOPIC, "--key-file", directory / "AuthKey.p8", "--key-id", KEY_ID, "--team-id", TEAM_ID,
        "--ca-file", directory / "ca.pem",
    ]


def simulator_command(directory, port, script):
    """The simulator with the credentials of make_credentials; a script is a path. Further flags may follow."""
    return [
        BINARY, "simulate", "--port", port, "--cert", directory / "cert.pem", "--key", directory / "key.pem",
        "--provider-key", directory / "AuthKey.pub.pem", "--key-id", KEY_ID, "--team-id", TEAM_ID, "--script", script,
    ]


@contextlib.contextmanager
def reserved_port():
    """A port of 127.0.0.1 that no other program gets while a server (with SO_REUSEADDR) starts on it."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def wait_for_port(port, process, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"{process.args[0]} ended with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.005)
    sys.exit(f"{process.args[0]} does not listen on port {port}")


@contextlib.contextmanager
def server(command, port, seconds=20, **options):
    """A server process that listens on `port`; ended at the end."""
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, **options)
    try:
        wait_for_port(port, process, seconds)
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(60)


@contextlib.contextmanager
def nginx(directory, streams=1000, cpu=None):
    """nginx on loopback with one worker; gives its port."""
    with reserved_port() as port:
        values = {
            "DIR": directory, "PORT": port, "STREAMS": streams, "REQUESTS": 1_000_000_000, "MASTER": "on",
            "CERT": directory / "cert.pem", "KEY": directory / "key.pem",
            "AFFINITY": "" if cpu is None else f"worker_cpu_affinity {1 << cpu:b};",
        }
        text = (ROOT / "Tests" / "Peers" / "nginx.conf.template").read_text()
        for name, value in values.items():
            text = text.replace(f"@{name}@", str(value))
        config = directory / "nginx.conf"
        config.write_text(text)
        command = ["nginx", "-e", directory / "nginx-error.log", "-p", directory, "-c", config]
        with server(command, port):
            yield port


class Usage:
    """What a child used: seconds of processor time, peak resident bytes, seconds of wall time."""

    def __init__(self, rusage, wall):
        self.user = rusage.ru_utime
        self.system = rusage.ru_stime
        self.cpu = rusage.ru_utime + rusage.ru_stime
        self.peak_bytes = rusage.ru_maxrss * 1024
        self.wall = wall


def measured(command, cpu=None, expect=(0,), **options):
    """Runs a command to its end; gives its standard output and its Usage."""
    command = [str(part) for part in command]
    if cpu is not None:
        command = ["taskset", "--cpu-list", str(cpu), *command]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, **options)
        _, status, rusage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - start
        output.seek(0)
        errors.seek(0)
        text = output.read().decode(errors="replace")
        if process.returncode not in expect:
            sys.exit(f"{' '.join(command)}\nended with {process.returncode}\n{text}{errors.read().decode()}")
    return text, Usage(rusage, wall)


def summary(run_directory):
    return json.loads((pathlib.Path(run_directory) / "summary.json").read_text())


def git_commit():
    described = subprocess.run(
        ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"], capture_output=True,
        text=True)
    return described.stdout.strip() or "unknown"


def version(*command):
    found = subprocess.run(command, capture_output=True, text=True)
    return (found.stdout + found.stderr).strip().split("\n")[0]


def facts_of_run():
    """When and where something was measured: the first columns of all results."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"date": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "commit": git_commit(), "kernel": platform.release()}


def record(name, row):
    """Adds a row to Benchmarks/results/NAME.csv; a file with other columns is set aside."""
    path = ROOT / "Benchmarks" / "results" / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = ",".join(row)
    if path.exists() and path.read_text(encoding="utf-8").split("\n")[0] != columns:
        path.rename(path.with_suffix(f".{int(path.stat().st_mtime)}.csv"))
    new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(row), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)
    return path.relative_to(ROOT)
