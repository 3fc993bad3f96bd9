"""A slow, obvious renderer of payload templates and compactor of payloads, to hold the fast ones against.

Reads one case a line: `render`, template, rendered payload and then name and field of every column; or `compact`, raw
payload and compacted payload; all but the first word in base64, separated by commas. Compares byte by byte, and also what
Python's json reads back, and prints how many cases agreed. The first difference ends it.
"""

import base64
import json
import re
import sys


class Number(str):
    """A number as it was written."""


class Dropped(Exception):
    """The value goes, and its key with it."""


class Members(list):
    """An object with its members in order, those of one name included."""


def read(text):
    return json.loads(
        text, parse_int=Number, parse_float=Number, object_pairs_hook=Members, parse_constant=lambda name: 1 / 0
    )


def write(value):
    if isinstance(value, Members):
        return "{" + ",".join(write(key) + ":" + write(member) for key, member in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(write(element) for element in value) + "]"
    if isinstance(value, Number):
        return str(value)
    return json.dumps(value, ensure_ascii=False)


# Four braces are matched before two, from left to right.
PIECE = re.compile(r"\{\{\{\{|\}\}\}\}|\{\{(.*?)\}\}", re.S)


def placeholder(content):
    content = content.strip(" ")
    optional = content.endswith("?")
    if optional:
        content = content[:-1].strip(" ")
    name, colon, kind = content.rpartition(":")
    if not colon:
        name, kind = content, "text"
    return name.strip(" "), kind.strip(" "), optional


def fill_string(text, row):
    whole = PIECE.match(text)
    if whole and whole.end() == len(text) and whole.group(1) is not None:
        name, kind, optional = placeholder(whole.group(1))
        field = row[name]
        if optional and field == "":
            raise Dropped
        if kind == "number":
            return Number(field)
        if kind == "bool":
            return field.lower() in ("true", "1")
        if kind == "json":
            return read(field)

    def replace(match):
        if match.group(1) is None:
            return match.group(0)[:2]
        name, _, optional = placeholder(match.group(1))
        if optional and row[name] == "":
            raise Dropped
        return row[name]

    return PIECE.sub(replace, text)


def fill(value, row):
    if isinstance(value, Members):
        filled = Members()
        for key, member in value:
            try:
                filled.append((fill_string(key, row), fill(member, row)))
            except Dropped:
                pass
        return filled
    if isinstance(value, list):
        filled = []
        for element in value:
            try:
                filled.append(fill(element, row))
            except Dropped:
                pass
        return filled
    if isinstance(value, str) and not isinstance(value, Number):
        return fill_string(value, row)
    return value


def check(kind, parts):
    if kind == "render":
        template, rendered, *columns = parts
        row = dict(zip(columns[::2], columns[1::2]))
        expected = fill(read(template), row)
    else:
        source, rendered = parts
        expected = read(source)
    if write(expected) != rendered or read(rendered) != expected:
        sys.exit(f"{kind}\n{parts!r}\nexpected {write(expected)!r}\n but got {rendered!r}")


def main():
    count = 0
    for line in sys.stdin:
        kind, *parts = line.rstrip("\n").split(",")
        check(kind, [base64.b64decode(part).decode("utf-8") for part in parts])
        count += 1
    print(count)


main()
