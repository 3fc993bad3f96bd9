#!/usr/bin/python3
"""Compares the output of `apns-batch render --json` with what Python makes of the same rows.

    check_rendered.py ROWS.csv RENDERED.jsonl [TEMPLATE.json]

Reads the rows with Python's csv and json modules, fills the template by the slow and obvious way (or takes the payload
column), and checks for every row: the payload reads back as the same value, numbers digit by digit; it holds no
whitespace between tokens and no escape where the character itself could stand; path and order are right. Prints how
many rows were compared; exits non-zero at the first difference.
"""

import csv
import json
import re
import sys

PLACEHOLDER = re.compile(r"\{\{([A-Za-z0-9_-]+)(?::(number|bool|json))?(\?)?\}\}")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
ABSENT = object()


class Number(str):
    """A number by its digits: 1.0 and 1.00 differ."""


def read(text):
    def pairs(items):
        return dict(items)

    return json.loads(text, parse_int=Number, parse_float=Number, object_pairs_hook=pairs)


def fill(value, row):
    """The template's value with the placeholders filled in, or ABSENT."""
    if isinstance(value, dict):
        filled = {key: fill(member, row) for key, member in value.items()}
        return {key: member for key, member in filled.items() if member is not ABSENT}
    if isinstance(value, list):
        return [member for member in (fill(member, row) for member in value) if member is not ABSENT]
    if not isinstance(value, str) or isinstance(value, Number):
        return value
    whole = PLACEHOLDER.fullmatch(value)
    if whole:
        column, kind, optional = whole.groups()
        field = row[column]
        if optional and not field:
            return ABSENT
        if kind == "number":
            return Number(field)
        if kind == "bool":
            return field == "true"
        if kind == "json":
            return read(field)
        return field
    return PLACEHOLDER.sub(lambda found: row[found.group(1)], value)


def same(a, b):
    if isinstance(a, Number) or isinstance(b, Number):
        return isinstance(a, Number) and isinstance(b, Number) and str.__eq__(a, b)
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def compact(payload):
    """None, or what is not as short as it could be."""
    outside = STRING.sub("", payload)
    if any(character in outside for character in " \t\r\n"):
        return "whitespace between tokens"
    for string in STRING.findall(payload):
        for escape in ESCAPE.findall(string):
            if escape.startswith("u"):
                if int(escape[1:], 16) >= 0x20:
                    return f"needless escape \\{escape}"
            elif escape == "/":
                return "needless escape \\/"
    return None


def main():
    rows_path, rendered_path, *template_path = sys.argv[1:]
    csv.field_size_limit(1 << 20)
    template = None
    if template_path:
        with open(template_path[0], encoding="utf-8") as file:
            template = read(file.read())
    count = 0
    with open(rows_path, newline="", encoding="utf-8") as rows, open(rendered_path, encoding="utf-8") as rendered:
        for row, line in zip(csv.DictReader(rows), rendered):
            count += 1
            got = json.loads(line)
            payload = got.get("payload", "")
            expected = fill(template, row) if template is not None else read(row["payload"])
            if got["row"] != count:
                sys.exit(f"row {count}: is called {got['row']}")
            if "invalid" in got:
                sys.exit(f"row {count}: invalid: {got['invalid']}")
            if got["path"] != "/3/device/" + row["token"]:
                sys.exit(f"row {count}: path {got['path']}")
            if not same(read(payload), expected):
                sys.exit(f"row {count}: got {payload}\nexpected {json.dumps(expected, ensure_ascii=False)}")
            waste = compact(payload)
            if waste:
                sys.exit(f"row {count}: {waste} in {payload}")
    print(count)


if __name__ == "__main__":
    main()
