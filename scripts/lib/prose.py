#!/usr/bin/python3
"""The width of prose in the documents of the repository: no line of a paragraph, a list or a heading is longer than 130 columns.

    scripts/lib/prose.py            wraps the paragraphs that have a longer line
    scripts/lib/prose.py --check    changes nothing, prints each longer line, and fails if there is one
    scripts/lib/prose.py --prove    plants lines that are too long, and long ones that are allowed; the check must distinguish them

Tables, code, directives of DocC, and lines that are nothing but a link cannot be wrapped, and may be longer.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

COLUMNS = 130

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
MARKER = re.compile(r" *(?:[-*+]|\d+\.) +")
LINK_ALONE = re.compile(r"!?\[[^\]]*\]\([^)]*\)[.,;:]?")
# What stays on one line: code, links, images, and words, each with what follows it without a space.
PIECE = re.compile(r"(?:`+[^`]+`+|!?\[[^\]]*\]\([^)\s]*\)|\S)+")
# What would be the beginning of something else, if it stood at the beginning of a line.
BEGINS_A_BLOCK = re.compile(r"(?:[-*+>|]|#+|\d+[.)]|@\w+.*|```.*)$")


def documents():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], stdout=subprocess.PIPE, text=True, check=True)
    return [name for name in listed.stdout.split("\n")[:-1] if os.path.exists(name)]


def is_prose(lines):
    """For each line, whether it belongs to a paragraph, a list or a heading."""
    found, in_fence, before_is_text = [], False, False
    for line in lines:
        text = line.strip()
        fence = text.startswith("```")
        if in_fence or fence:
            prose = False
            in_fence = in_fence != fence
        elif not text or text.startswith(("|", "@")):
            prose = False
        else:
            # Four spaces after an empty line, or after such a line, are code.
            prose = before_is_text or not line.startswith("    ")
        found.append(prose)
        before_is_text = prose
    return found


def is_too_long(line):
    if len(line) <= COLUMNS:
        return False
    text = MARKER.sub("", line, count=1).strip()
    return " " in text and not LINK_ALONE.fullmatch(text)


def breaches(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, (line, prose) in enumerate(zip(lines, is_prose(lines)), 1):
        if prose and is_too_long(line):
            yield f"{path}:{number}: {len(line)} columns, and {COLUMNS} are allowed"


def paragraphs(lines):
    """The lines in groups: each paragraph or entry of a list by itself, and each other line alone."""
    group = []
    for line, prose in zip(lines, is_prose(lines)):
        begins = MARKER.match(line) or line.lstrip().startswith(("#", ">", "<!--"))
        if group and (not prose or begins):
            yield True, group
            group = []
        if prose:
            group.append(line)
        else:
            yield False, [line]
    if group:
        yield True, group


def wrapped(group):
    marker = MARKER.match(group[0])
    first = marker.group() if marker else re.match(" *", group[0]).group()
    rest = " " * len(first)
    pieces = PIECE.findall(" ".join([group[0][len(first):], *(line.strip() for line in group[1:])]))
    lines, current = [], first
    for piece in pieces:
        joined = current + piece if current in (first, rest) else f"{current} {piece}"
        if len(joined) <= COLUMNS or current in (first, rest) or BEGINS_A_BLOCK.match(piece):
            current = joined
        else:
            lines.append(current)
            current = rest + piece
    return [*lines, current]


def wrap(path):
    with open(path, encoding="utf-8") as file:
        old = file.read()
    lines = []
    for prose, group in paragraphs(old.split("\n")):
        long = prose and any(map(is_too_long, group)) and not group[0].lstrip().startswith("#")
        lines += wrapped(group) if long else group
    if (new := "\n".join(lines)) != old:
        with open(path, "w", encoding="utf-8") as file:
            file.write(new)


def prove():
    """Whether the check finds each line that is too long, leaves the others alone, and wrapping mends what it can."""
    words = "word " * 40
    long = {
        "a paragraph": words, "an entry of a list": f"- {words}", "the second line of an entry": f"- a\n  {words}",
        "a heading": f"# {words}", "a line with a link in it": f"See [{words}](#a) and more.", "a second paragraph": f"a\n\n{words}",
        "a line after code": f"```\ncode\n```\n{words}"}
    allowed = {
        "a table": f"| {words} |", "code in a fence": f"```\n{words}\n```", "indented code": f"a\n\n    {words}",
        "indented code of an entry": f"- a\n\n      {words}", "a link alone": f"- [{words}](#a)", "a word alone": "x" * 200,
        "a directive": f"@Snippet(path: \"{words}\")", "130 columns": "x " * 64 + "xx"}
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "planted.md")
        for expected, cases in ((1, long), (0, allowed)):
            for what, text in cases.items():
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text + "\n")
                found = len(list(breaches(path)))
                wrap(path)
                left = list(breaches(path))
                with open(path, encoding="utf-8") as file:
                    same = file.read().split() == text.split()
                # A heading and a link cannot be wrapped.
                good = found == expected and same and (not left or what in ("a heading", "a line with a link in it"))
                print(f"{'found' if expected else 'allowed'}: {what}" if good else f"NOT TOLD APART: {what}")
                failed = failed or not good
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--prove", action="store_true")
    asked = parser.parse_args()
    os.chdir(ROOT)
    if asked.prove:
        sys.exit(0 if prove() else 1)
    found = []
    for path in documents():
        if not asked.check:
            wrap(path)
        found += breaches(path)
    for breach in found:
        print(breach)
    sys.exit(1 if found else 0)


main()
