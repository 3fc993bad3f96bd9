"""Runs the programs of examples/library against the simulator in another process, for scripts/check-dependency.

    python3 scripts/lib/examples.py SIMULATOR BUILD

SIMULATOR: the command apns-batch. BUILD: the folder with push-server and nightly-campaign. Exits with 1 and says why when a push
was lost, sent twice, or has another answer than APNs gave. Processes are ended by their ids.
"""

import contextlib
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peers  # noqa: E402
from peers import say  # noqa: E402

SIMULATOR, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
PATIENCE = 60
# After the registration of every device, so that a 410 with it counts.
FUTURE = 4_102_444_800_000
GONE = f"seed: 1\nrules:\n  - {{ share: 0.05, status: 410, reason: Unregistered, timestamp: {FUTURE} }}\n"


def require(condition, text):
    if not condition:
        sys.exit(f"examples: {text}")


def wait_until(what, condition, process):
    """Waits for a condition, at most for as long as the process runs."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        require(process.poll() is None, f"{what}: the process ended with {process.returncode}")
        require(time.monotonic() < deadline, f"{what}: not within {PATIENCE} s")
        time.sleep(0.005)


@contextlib.contextmanager
def running(directory, name, *command, errors=subprocess.STDOUT):
    """A process whose output goes to NAME.log, and its errors, too, or elsewhere. It is killed if it has not ended by itself."""
    log = directory / f"{name}.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=directory)
    try:
        yield process, log
    except BaseException:
        sys.stderr.write(f"{name}:\n{log.read_text()[-3000:]}")
        raise
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


class Simulator:
    """A simulator; `flags` are those of a sender, `counts` what each token received, after stop()."""

    def __init__(self, directory, process, log):
        self.directory, self.process, self.counts = directory, process, {}
        wait_until("the simulator listens", lambda: re.search(r"^listening on .*\n", log.read_text(), re.M), process)
        self.flags = re.search(r"--input \S+ (.*)", log.read_text())[1].split()

    def stop(self):
        self.process.terminate()
        require(self.process.wait(PATIENCE) == 0, f"the simulator ended with {self.process.returncode}")
        for line in (self.directory / "counts.csv").read_text().splitlines()[1:]:
            token, received, accepted = line.split(",")
            self.counts[token] = (int(received), int(accepted))


@contextlib.contextmanager
def simulator(directory, script):
    (directory / "script.yaml").write_text(script)
    command = (SIMULATOR, "simulate", "--port", 0, "--script", "script.yaml", "--counts", "counts.csv")
    with running(directory, "simulator", *command) as (process, log):
        yield Simulator(directory, process, log)


# The campaign.

ROWS = 8000


class Night:
    def __init__(self, directory, target, policy):
        self.directory, self.policy = directory, policy
        self.command = [
            BUILD / "nightly-campaign", "send", "--database", "push.sqlite", "--campaign", "night", "--on-unknown", policy,
            *target.flags]
        peers.run(BUILD / "nightly-campaign", "make-sample", "--database", "push.sqlite", "--rows", ROWS, cwd=directory)

    def lines(self):
        """The number of rows with a line in results.csv."""
        results = self.directory / "runs/night/results.csv"
        return max(0, results.read_bytes().count(b"\n") - 1) if results.exists() else 0

    def interrupt(self, at, by):
        """Runs the program until so many rows have a line, which are written once a second, and ends it. Returns its exit code."""
        with running(self.directory, "nightly-campaign", *self.command) as (process, _):
            wait_until(f"{at} rows have outcomes", lambda: self.lines() >= at, process)
            process.send_signal(by)
            return process.wait(PATIENCE)

    def finish(self):
        with running(self.directory, "nightly-campaign", *self.command) as (process, _):
            return process.wait(PATIENCE)

    def recipients(self):
        """Token, outcome and whether the device is marked as gone, of each recipient."""
        with contextlib.closing(sqlite3.connect(self.directory / "push.sqlite")) as database:
            return database.execute(
                "SELECT token, outcome, goneAt IS NOT NULL FROM recipient JOIN device ON device.id = device").fetchall()


def check_night(directory, policy):
    """A campaign that is killed, stopped in order, continued to its end, and called once more."""
    with simulator(directory, GONE + "answers_per_second: 2500\n") as target:
        night = Night(directory, target, policy)
        require(night.interrupt(1, signal.SIGKILL) == -signal.SIGKILL, "the campaign was over before the kill")
        require(night.lines() < ROWS, "the campaign was over before the kill")
        code = night.interrupt(night.lines() + 1, signal.SIGTERM)
        require(code == 75, f"after SIGTERM the exit code is {code}")
        recipients = lambda outcome: sum(row[1] == outcome for row in night.recipients())  # noqa: E731
        codes = night.finish(), night.finish()
        target.stop()
    # A row whose outcome is unknown does not meet the standard expectation.
    expected = 2 if recipients("unknown") else 0
    require(codes == (expected, expected), f"the exit codes are {codes}, expected {expected}")
    check_recipients(night, target)


def check_recipients(night, target):
    rows = night.recipients()
    summary = json.loads((night.directory / "runs/night/summary.json").read_text())
    require(len(rows) == ROWS and set(target.counts) <= {row[0] for row in rows}, f"there are {len(rows)} recipients")
    for token, outcome, is_gone in rows:
        received, accepted = target.counts.get(token, (0, 0))
        agrees = {
            "accepted": accepted > 0 and not is_gone, "rejected": received > 0 and accepted == 0 and is_gone,
            "unknown": night.policy == "report"}
        require(agrees.get(outcome, False), f"a recipient is {outcome}, gone {is_gone}, received {received}, accepted {accepted}")
    twice = sum(received > 1 for received, _ in target.counts.values())
    require(twice <= summary["resent"] if night.policy == "resend" else twice == 0, f"{twice} received twice")
    require(summary["sessions"] == 3, f"there were {summary['sessions']} sessions")
    say(f"nightly-campaign, {night.policy}: {ROWS} rows, killed and stopped, {twice} received twice, "
        f"{summary['unknown']} unknown, no row lost")


# The server.

USERS = 1500
# Those that are notified before the load.
FIRST = 100


def token(user):
    return f"{user:064x}"


class Server:
    def __init__(self, directory, process, log):
        self.directory, self.process = directory, process
        wait_until("the server listens", lambda: re.search(r"listening on \S+:\d+\n", log.read_text()), process)
        self.url = "http://" + re.search(r"listening on (\S+:\d+)\n", log.read_text())[1]

    def register(self):
        """Registers the devices of all users."""
        sections = [
            f'url = "{self.url}/users/{user}/device"\nrequest = "PUT"\njson = "{{\\"token\\":\\"{token(user)}\\"}}"\n'
            'write-out = "%{http_code}\\n"\n' for user in range(1, USERS + 1)]
        (self.directory / "curl.config").write_text("next\n".join(sections))
        done = peers.run("curl", "--silent", "--parallel", "--config", self.directory / "curl.config", capture_output=True, text=True)
        require(done.stdout.split() == ["204"] * USERS, "not every device was registered")

    def notify(self, first, last, folder):
        """Starts curl, which notifies users; the bodies of answers are in the folder, by user."""
        folder.mkdir()
        return [
            "curl", "--silent", "--parallel", "--parallel-max", "40", "--json", '{"title":"Hi","body":"Now"}',
            "--write-out", "%{http_code} %{url}\n", "--output", folder / "#1", f"{self.url}/users/[{first}-{last}]/notify"]

    def health(self):
        return json.loads(peers.run("curl", "--silent", f"{self.url}/health", capture_output=True, text=True).stdout)


def statuses(text):
    """The status of each user, by the lines that curl writes; 0 for a request without an answer."""
    return {int(url.split("/")[-2]): int(status) for status, url in (line.split() for line in text.splitlines())}


def check_server(directory):
    """Requests one after the other, and a load during which the server is stopped."""
    with simulator(directory, GONE + "latency: { distribution: fixed, median_ms: 20 }\n") as target:
        with running(directory, "push-server", BUILD / "push-server", "--port", 0, *target.flags) as (process, log):
            server = Server(directory, process, log)
            server.register()
            first = statuses(peers.run(*server.notify(1, FIRST, directory / "first"), capture_output=True, text=True).stdout)
            again = statuses(peers.run(*server.notify(1, FIRST, directory / "again"), capture_output=True, text=True).stdout)
            gone = {user for user, status in first.items() if status == 410}
            require(gone and all(again[user] == (404 if user in gone else 200) for user in first), "a device that is gone stays")
            require(server.health()["isReady"], f"the server is not ready: {server.health()}")
            load = load_until_the_end(directory, server)
        target.stop()
    for user, status in first.items():
        require(target.counts[token(user)] == ((1, 0) if user in gone else (2, 2)), f"user {user} got {target.counts[token(user)]}")
        require(status in (200, 410), f"user {user} was answered {status}")
    check_load(load, target)


def load_until_the_end(directory, server):
    """Sends SIGTERM while requests are under way. Returns the statuses."""
    folder = directory / "load"
    command = server.notify(FIRST + 1, USERS, folder)
    # Its progress, which goes to standard error, is of no interest.
    with running(directory, "curl", *command, errors=subprocess.DEVNULL) as (curl, log):
        wait_until("some users are notified", lambda: len(os.listdir(folder)) >= 200, curl)
        started = time.monotonic()
        server.process.terminate()
        code = server.process.wait(PATIENCE)
        require(code == 0, f"the server ended with {code}")
        require(time.monotonic() - started < 10, f"the server ended after {time.monotonic() - started:.1f} s")
        curl.wait(PATIENCE)
    return statuses(log.read_text())


def check_load(load, target):
    """Each answer agrees with what the simulator counted, and what has no answer was not sent."""
    require(len(load) == USERS - FIRST, f"curl reports {len(load)} requests")
    for user, status in load.items():
        expected = {200: (1, 1), 410: (1, 0), 0: (0, 0)}
        counted = target.counts.get(token(user), (0, 0))
        require(status in expected, f"user {user} was answered {status}")
        require(counted == expected[status], f"user {user} was answered {status}, and the simulator counted {counted}")
    answered = sum(status != 0 for status in load.values())
    require(200 <= answered < len(load), f"{answered} requests were answered, so the server did not end under load")
    say(f"push-server: ended under load, {answered} requests answered, {len(load) - answered} not accepted, none lost or sent twice")


def main():
    for name, check in (
            ("night-resend", lambda directory: check_night(directory, "resend")),
            ("night-report", lambda directory: check_night(directory, "report")), ("server", check_server)):
        with peers.scratch_directory() as scratch:
            directory = scratch / name
            directory.mkdir()
            check(directory)


if __name__ == "__main__":
    main()
