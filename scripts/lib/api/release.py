"""What is recorded of the last release, and the changelog."""

import os
import re
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
RECORD = os.path.join(FOLDER, "last-release")
ALLOWED = os.path.join(FOLDER, "allowed-breaks")
CHANGELOG = "CHANGELOG.md"

RECORD_HEAD = """\
# The last release, written by scripts/release. The files beside this one have its public API, as the compiler named here
# writes it. `commit` is the commit before that of the release, which differs from it in the version alone: a commit cannot
# contain its own id. "none" stands for what was not recorded.
"""
ALLOWED_HEAD = """\
# Breaks of the public API since the last release that are meant, one a line, each with a piece of the line in the section
# "Unreleased" of CHANGELOG.md that tells users of it:
#
#     MODULE: SENTENCE OF scripts/check-api | PIECE OF THE CHANGELOG
#
# scripts/release empties this file.
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def facts():
    """The lines of the record: version, commit, swift."""
    return dict(line.split(None, 1) for line in read(RECORD).splitlines() if line and not line.startswith("#"))


def record(version, commit, compiler):
    return f"{RECORD_HEAD}version {version}\ncommit {commit}\nswift {compiler}\n"


def unreleased(text):
    """The section of the changelog for what comes next, without its heading."""
    found = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        sys.exit(f"{CHANGELOG} has no section \"Unreleased\"")
    return found.group(1)


def flat(text):
    return " ".join(text.split())


def allowed_breaks():
    """(line number, break, piece of the changelog) for each line of the list."""
    for number, line in enumerate(read(ALLOWED).splitlines(), 1):
        if line and not line.startswith("#"):
            sentence, bar, piece = line.partition(" | ")
            if not bar or not piece.strip():
                sys.exit(f"{os.path.relpath(ALLOWED)}:{number}: expected `BREAK | PIECE OF THE CHANGELOG`")
            yield number, sentence.strip(), piece.strip()
