"""What Python needs for a step of a row's way, for scripts/micro-bench: run as a program, by any Python.

    micro_peers.py csv FILE                     reads all rows
    micro_peers.py count FILE                   reads all rows once, and prints only how many there were
    micro_peers.py objects FILE                 the same, of lines of JSON
    micro_peers.py json|orjson FILE TEMPLATE    makes a payload for each row, out of a template with {{name}}

Prints the median of several rounds in nanoseconds of processor time for a row or payload, how many there were, and how
many bytes a payload has.
"""

import csv
import json
import statistics
import sys
import time

ROUNDS = 5
PAYLOADS_MAX = 10_000


def median_of_rounds(work):
    """Nanoseconds of the median round, and what work has returned."""
    times = []
    for _ in range(ROUNDS + 1):
        begin = time.thread_time_ns()
        result = work()
        times.append(time.thread_time_ns() - begin)
    return statistics.median(times[1:]), result


def read(path):
    """All rows but the header, counted."""
    with open(path, newline="", encoding="utf-8") as file:
        return sum(1 for _ in csv.reader(file)) - 1


def read_objects(path):
    """All lines, as dictionaries, counted."""
    with open(path, encoding="utf-8") as file:
        return sum(1 for line in file if json.loads(line))


def dump_function(name):
    if name == "json":
        return lambda payload: json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode()
    import orjson
    return orjson.dumps


def payload_function(path):
    """What makes the payload of a name, as a program for this template would do it."""
    with open(path, encoding="utf-8") as file:
        aps = json.load(file)["aps"]
    title, sound = aps["alert"]["title"], aps["sound"]
    before, after = aps["alert"]["body"].split("{{name}}")
    return lambda name: {"aps": {"alert": {"title": title, "body": f"{before}{name}{after}"}, "sound": sound}}


def render(dumps, path, template):
    with open(path, newline="", encoding="utf-8") as file:
        names = [row[1] for row, _ in zip(csv.reader(file), range(PAYLOADS_MAX + 1))][1:]
    payload = payload_function(template)

    def work():
        size = 0
        for name in names:
            size += len(dumps(payload(name)))
        return size

    nanoseconds, size = median_of_rounds(work)
    return nanoseconds / len(names), len(names), size / len(names)


def main():
    kind, path, *rest = sys.argv[1:]
    if kind == "count":
        print(read(path))
        return
    if kind == "objects":
        print(read_objects(path))
        return
    if kind == "csv":
        nanoseconds, rows = median_of_rounds(lambda: read(path))
        result = nanoseconds / rows, rows, 0
    else:
        result = render(dump_function(kind), path, *rest)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
