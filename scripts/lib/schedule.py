"""What the schedule around a run may be like: each play starts `apns-batch run` as timers and people do, at days of its own.

A later night is made by moving the history of earlier runs to the days before, since the clock of the machine is that of its owner.
"""

import collections
import csv
import datetime
import json
import os
import signal
import subprocess
import sys
import time

import peers
import postgres
from peers import say

PATIENCE = 300


def expect(holds, text, found=""):
    if not holds:
        sys.exit(f"schedule: expected {text}, found:\n{found}")


def token(number):
    return f"{number:064x}"


def move_history(path, moved=None):
    """Moves the runs of a history to the day before. Those that are not complete keep their time, which their ledger has, too."""
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    complete = {(entry["run_dir"], entry["began"]) for entry in entries if entry.get("ending") == "complete"}
    for entry in entries:
        is_complete = (entry.get("run_dir"), entry.get("began")) in complete
        entry["run_dir"] = (moved or {}).get(entry.get("run_dir"), entry.get("run_dir"))
        for key in ("began", "time", "ended"):
            if is_complete and key in entry:
                entry[key] = (datetime.datetime.fromisoformat(entry[key][:-1]) - datetime.timedelta(days=1)).isoformat() + "Z"
    path.write_text("".join(json.dumps({key: value for key, value in entry.items() if value is not None}) + "\n" for entry in entries))


class Play:
    """A campaign with a directory and a simulator of its own."""

    simulators = []

    def __init__(self, directory, **settings):
        self.directory = directory
        directory.mkdir()
        self.input = directory / "export.csv"
        self.rows = range(0)
        self.log = directory / "simulate.log"
        script = directory / "script.yaml"
        script.write_text("seed: 1\n")
        with open(self.log, "wb") as log:
            command = [*peers.simulator_command(directory.parent, 0, script), "--counts", directory / "counts.csv"]
            self.simulator = subprocess.Popen(
                [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.simulators.append(self.simulator)
        self.settings = {
            "name": "nightly", "input": "export.csv", "template": str(postgres.TEMPLATE), "run_dir": "runs/{date}",
            "expiration": "1h", "on_unknown": "report", "report": "none", "to": f"localhost:{self.port()}", **settings,
        }
        self.write()

    def port(self):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = [line for line in self.log.read_text().split("\n")[:-1] if "listening" in line]
            if found:
                return int("".join(c if c.isdigit() else " " for c in found[0]).split()[-1])
            time.sleep(0.01)
        sys.exit(f"the simulator does not listen:\n{self.log.read_text()}")

    def write(self, **settings):
        self.settings |= settings
        lines = [f"{key}: {value}" for key, value in self.settings.items() if value is not None]
        (self.directory / "campaign.yaml").write_text("\n".join(lines) + "\n")

    def export(self, first, last, broken=0):
        """Writes an export with a row for each number. The tokens of the last ones may be broken."""
        copy = self.directory / "export.new"
        copy.write_text("token,name\n" + "".join(
            f"{'x' if number >= last - broken else ''}{token(number)},Ada\n" for number in range(first, last)))
        copy.rename(self.input)

    def command(self, *flags, subcommand="run"):
        command = [peers.BINARY, subcommand, self.directory / "campaign.yaml", *peers.provider_flags(self.directory.parent), *flags]
        return [str(part) for part in command]

    def run(self, code, *flags, says="", subcommand="run"):
        """Starts the sender as a timer does, and waits for its end."""
        done = subprocess.run(
            self.command(*flags, subcommand=subcommand), capture_output=True, text=True, stdin=subprocess.DEVNULL,
            timeout=PATIENCE, check=False)
        found = done.stdout + done.stderr
        expect(done.returncode == code, f"exit code {code}", f"{done.returncode}: {found}")
        expect(says in found, f'"{says}"', found)
        return found

    def kill(self, *flags, share=0.2):
        """Starts the sender slowly, and kills it when some rows have ended."""
        process = subprocess.Popen(
            self.command("--rate", "200/s", "--quiet", *flags), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while self.ended(self.last_run()) < share * self.length():
            expect(process.poll() is None and time.monotonic() < deadline, "a run that goes on", process.returncode)
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def length(self):
        return sum(1 for _ in open(self.input, encoding="utf-8")) - 1

    def last_run(self):
        runs = [path.parent for path in self.directory.glob("runs/*/ledger")]
        return max(runs, key=lambda path: (path / "ledger").stat().st_ctime, default=None)

    @staticmethod
    def ended(run):
        results = run / "results.csv" if run else None
        return max(0, results.read_bytes().count(b"\n") - 1) if results and results.exists() else 0

    def next_day(self):
        """From now on, the runs so far belong to the night before: the history and the names of their directories say so."""
        moved = {}
        for run in sorted(self.directory.glob("runs/2*")):
            day = datetime.date.fromisoformat(run.name[:10]) - datetime.timedelta(days=1)
            moved[str(run)] = str(run.with_name(f"{day}{run.name[10:]}"))
            run.rename(moved[str(run)])
        move_history(self.directory / "runs" / "runs.ndjson", moved)

    def close(self, received):
        """Ends the simulator. `received` has ranges of rows, and how often each row of them may have been received."""
        self.simulator.terminate()
        expect(self.simulator.wait(PATIENCE) == 0, "a simulator that ends", self.log.read_text())
        counts = collections.Counter()
        with open(self.directory / "counts.csv", newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                counts[int(line["token"], 16)] += int(line["received"])
        wanted = {number: times for rows, times in received for number in rows}
        wrong = {number: counts[number] for number in wanted | counts if counts[number] not in wanted.get(number, [0])}
        expect(not wrong, "each row as often as it was to be sent", dict(list(wrong.items())[:5]))


ONE, OTHER = range(0, 400), range(1000, 1400)
NEVER, ONCE, TWICE = [0], [1], [2]
# Rows that were in flight at a kill are not sent again.
AT_MOST_ONCE = [0, 1]


def unfinished(play):
    """A night that was killed, of the day before."""
    play.export(ONE.start, ONE.stop)
    play.kill()
    play.next_day()
    return play.last_run()


def complete(play):
    play.export(ONE.start, ONE.stop)
    play.run(0)


def complete_earlier(play):
    complete(play)
    play.next_day()


def other(play):
    play.export(OTHER.start, OTHER.stop)


def gone(play):
    play.input.unlink()


def old(play):
    """The export is that of yesterday."""
    play.write(require_fresh="2h")
    day = time.time() - 86_400
    os.utime(play.input, (day, day))


def same_rows(play):
    """The same rows, written again."""
    copy = play.directory / "export.new"
    copy.write_bytes(play.input.read_bytes())
    copy.rename(play.input)


def grown(play):
    play.export(ONE.start, ONE.stop + 50)


def nothing(_):
    pass


KEPT = {"spool": "always"}
FINISH = {"spool": "always", "unfinished": "continue"}

# What the history has × what the input is: settings, history, input, exit code, words, and how often the rows are received in the end
# (those of the first export, of the other one).
CELLS = [
    ("nothing, a new input", {}, nothing, other, 0, "OK: ", NEVER, ONCE),
    ("nothing, no input", {}, nothing, nothing, 75, "export.csv: ", NEVER, NEVER),
    ("nothing, an old input", {}, nothing, lambda play: (other(play), old(play)), 75, "nothing was sent", NEVER, NEVER),
    ("unfinished, its input", {}, unfinished, nothing, None, "unknown", AT_MOST_ONCE, NEVER),
    ("unfinished, its rows written again", {}, unfinished, same_rows, None, "unknown", AT_MOST_ONCE, NEVER),
    ("unfinished, a new input", KEPT, unfinished, other, 2, "another run is not finished: ", None, ONCE),
    ("unfinished, a new input, continue", FINISH, unfinished, other, None, "it is finished first", AT_MOST_ONCE, ONCE),
    ("unfinished, a new input, continue without kept rows", {"unfinished": "continue"}, unfinished, other, 2,
     "another run is not finished: ", None, ONCE),
    ("unfinished, no input, kept rows", KEPT, unfinished, gone, None, "it is finished first", AT_MOST_ONCE, NEVER),
    ("unfinished, no input", {}, unfinished, gone, 75, "export.csv: ", None, NEVER),
    ("complete tonight, its input", {}, complete, same_rows, 0, "already=complete", ONCE, NEVER),
    ("complete tonight, a new input", {}, complete, other, 64, "--again", ONCE, NEVER),
    ("complete tonight, no input", {}, complete, gone, 0, "already=complete", ONCE, NEVER),
    ("complete earlier, its input", {}, complete_earlier, nothing, 64, "has not come yet", ONCE, NEVER),
    ("complete earlier, its input, nightly", {"same_input": "nightly"}, complete_earlier, nothing, 0, "OK: ", TWICE, NEVER),
    ("complete earlier, a new input", {}, complete_earlier, other, 0, "OK: ", ONCE, ONCE),
    ("complete earlier, no input", {}, complete_earlier, gone, 75, "export.csv: ", ONCE, NEVER),
    ("complete earlier, an old input", {}, complete_earlier, old, 75, "24 h 0 min ago", ONCE, NEVER),
    ("complete earlier, grown", {}, complete_earlier, grown, 64, "--again --from-row 401", ONCE, NEVER),
    ("complete tonight, grown", {}, complete, grown, 64, "--again", ONCE, NEVER),
]


def cell(directory, number):
    name, settings, history, input_, code, says, first, second = CELLS[number]
    play = Play(directory / f"cell-{number}", **settings)
    run = history(play)
    input_(play)
    before = play.ended(run) if run else 0
    if code is None:
        # Rows in flight at the kill end as unknown, with exit code 2, unless there were none.
        flags = ["--expect", "unknown <= 100%"]
        play.run(0, *flags, says="")
    else:
        play.run(code, says=says)
    if first is None:
        # The killed run is not touched.
        expect(play.ended(run) == before, "a run that stays as it is", play.ended(run))
        play.simulator.terminate()
        expect(play.simulator.wait(PATIENCE) == 0, "a simulator that ends")
        return
    play.close([(ONE, first), (OTHER, second)])


def table(directory):
    for number, cell_ in enumerate(CELLS):
        say(f"  {cell_[0]}")
        cell(directory, number)


def two_starts_after_noon(directory):
    """The service is started twice more after the night began to be called another one."""
    play = Play(directory / "noon")
    complete(play)
    play.next_day()
    for _ in range(2):
        play.run(64, says="has not come yet")
    # The next night has an export of its own.
    other(play)
    play.run(0, says="OK: ")
    play.run(0, says="already=complete")
    play.close([(ONE, ONCE), (OTHER, ONCE)])


def killed_night_found(directory):
    """A night is killed, and found the next day by `runs`, by the next night, and by the metrics."""
    play = Play(directory / "killed", metrics_textfile="nightly.prom")
    run = unfinished(play)
    listed = peers.attempt(peers.BINARY, "runs", play.directory / "campaign.yaml")
    expect(listed.returncode == 0 and "apns-batch resume" in listed.stdout, "the killed night", listed.stdout + listed.stderr)
    (play.directory / "kept.csv").write_bytes(play.input.read_bytes())
    other(play)
    play.run(2, says="another run is not finished: ")
    prom = (play.directory / "nightly.prom").read_text()
    expect('apns_batch_last_unfinished_runs{campaign="nightly"} 1\n' in prom, "the metric of unfinished runs", prom)
    resumed = peers.attempt(peers.BINARY, "resume", run, "--input", play.directory / "kept.csv", "--expect", "unknown <= 100%")
    expect(resumed.returncode == 0, "a killed night that is finished", resumed.stdout + resumed.stderr)
    play.next_day()
    play.export(2000, 2010)
    play.run(0, says="OK: ")
    play.close([(ONE, AT_MOST_ONCE), (OTHER, ONCE), (range(2000, 2010), ONCE)])


def waiting(process):
    """Reads what a start says until it waits; returns that line."""
    for line in process.stderr:
        if "; waiting, up to " in line:
            return line
    sys.exit("schedule: expected a start that waits")


def late_export(directory):
    """The export comes half a minute after the timer."""
    play = Play(directory / "late", input_patience="10m")
    process = subprocess.Popen(play.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    expect("export.csv: " in waiting(process), "the input that is waited for")
    other(play)
    expect(process.wait(PATIENCE) == 0, "a night that is sent", process.stderr.read())
    process.stderr.close()
    play.close([(OTHER, ONCE)])


def export_of_yesterday(directory):
    """The export of today is missing, and that of yesterday lies there."""
    play = Play(directory / "yesterday", input_patience="2s")
    complete_earlier(play)
    play.run(64, says="waiting, up to 2 seconds")
    play.run(0, "--again", says="OK: ")
    play.close([(ONE, TWICE)])


def again(directory):
    """A second export of the night is sent when a person says so, in a directory of its own."""
    play = Play(directory / "again")
    complete(play)
    other(play)
    play.run(64, says="--again")
    play.run(0, "--again", says="OK: ")
    names = sorted(path.name[10:] for path in play.directory.glob("runs/2*"))
    expect(names == ["", "-2"], "two runs of the night", names)
    play.close([(ONE, ONCE), (OTHER, ONCE)])


def half_broken_file(directory):
    """Of an export of which more than half is broken nothing is sent; a few broken rows are corrected after the night."""
    play = Play(directory / "broken")
    play.export(ONE.start, ONE.stop, broken=250)
    play.run(64, says="250 of 400 rows are invalid")
    expect(not list(play.directory.glob("runs/2*")), "no run")
    play.export(ONE.start, ONE.stop, broken=10)
    play.run(2, says="10 rows were not sent")
    run = play.last_run()
    corrected = play.directory / "corrected.csv"
    corrected.write_text((run / "not-sent.csv").read_text().replace(",x", ","))
    play.run(0, "--correction", run, "--input", corrected, says="OK: ")
    play.run(2, says="already=complete")
    play.close([(ONE, ONCE)])


def abandoned(directory):
    """A night that was killed is given up, and no longer named."""
    play = Play(directory / "abandoned", spool="always")
    run = unfinished(play)
    found = peers.attempt(peers.BINARY, "abandon", run)
    expect(found.returncode == 0 and "the run is given up" in found.stderr, "a run that is given up", found.stdout + found.stderr)
    with open(run / "results.csv", newline="", encoding="utf-8") as file:
        outcomes = collections.Counter(line["outcome"] for line in csv.DictReader(file))
    expect(sum(outcomes.values()) == len(ONE) and outcomes["expired"] > 0, "a line for each row", outcomes)
    other(play)
    play.run(0, says="OK: ")
    play.simulator.terminate()
    play.simulator.wait(PATIENCE)


def database_restarts(directory):
    """PostgreSQL starts up when the timer calls."""
    cluster = postgres.Cluster()
    try:
        cluster.psql(f"CREATE TABLE devices AS SELECT lpad(to_hex(n), 64, '0') AS token, 'Ada' AS name "
                     f"FROM generate_series({OTHER.start}, {OTHER.stop - 1}) n")
        query = f'{{ database: "{cluster.connection}", query: "SELECT token, name FROM devices" }}'
        cluster.process.send_signal(signal.SIGINT)
        cluster.process.wait(60)
        play = Play(directory / "database", input=None, input_query=query)
        play.run(75, says="connection")
        play.write(input_patience="10m")
        process = subprocess.Popen(
            play.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        waiting(process)
        cluster.start()
        expect(process.wait(PATIENCE) == 0, "a night that is sent", process.stderr.read())
        process.stderr.close()
        play.close([(OTHER, ONCE)])
    finally:
        cluster.close()


def plays(directory):
    """Plays everything in a directory that has the credentials of `peers.make_credentials`."""
    try:
        for play in [two_starts_after_noon, killed_night_found, late_export, export_of_yesterday, half_broken_file, again, abandoned,
                     database_restarts]:
            say(play.__doc__.split("\n")[0])
            play(directory)
        say("what the history has, and what the input is")
        table(directory)
    finally:
        for simulator in Play.simulators:
            if simulator.poll() is None:
                simulator.kill()
                simulator.wait()
