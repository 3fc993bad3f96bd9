"""The table of modules in docs/internals/layering.md: its last column is what each module imports, made from Package.swift."""

import os
import re

from .graph import ALLOWED

DOCUMENT = os.path.join("docs", "internals", "layering.md")
ROW = re.compile(r"\| `(?:CSupport/)?([\w-]+)` \| (.*) \| ([^|]*)\|$")
# The system modules by the names of their libraries.
LIBRARIES = {
    "CAPNSURing": "liburing", "CAPNSNGHTTP2": "nghttp2", "CAPNSOpenSSL": "OpenSSL", "CAPNSZlib": "zlib", "CAPNSZstd": "libzstd",
    "CAPNSLibPQ": "the header of libpq"}


def imports_of(target):
    """Modules in the order of the manifest, lowest first; then libraries and packages."""
    names = ALLOWED[target]
    own = [name for name in ALLOWED if name in names]
    return ", ".join(own + sorted((LIBRARIES.get(name, name) for name in names - set(own)), key=str.lower))


def read_lines(root):
    with open(os.path.join(root, DOCUMENT), encoding="utf-8") as file:
        return file.read().split("\n")


def rows(lines):
    """Of the first table: the number of the line, from 0, and its match."""
    first = lines.index("| module | job | imports |")
    for number in range(first + 2, len(lines)):
        found = ROW.match(lines[number])
        if not found:
            return
        yield number, found


def document_breaches(root):
    lines, seen = read_lines(root), set()
    for number, row in rows(lines):
        target = row.group(1)
        seen.add(target)
        if target in ALLOWED and row.group(3).strip() != imports_of(target):
            yield f"{DOCUMENT}:{number + 1}: {target} imports something else: run scripts/check-layering --table"
    for target in sorted(seen ^ set(ALLOWED)):
        yield f"{DOCUMENT}: {target} is in this table or in Package.swift, and not in both"


def write_table(root):
    lines = read_lines(root)
    for number, row in list(rows(lines)):
        target = row.group(1)
        if target in ALLOWED:
            cell = imports_of(target)
            lines[number] = lines[number][:row.start(3)] + (cell + " |" if cell else "|")
    with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
