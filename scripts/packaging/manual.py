#!/usr/bin/python3
"""Makes manual pages of the command from its own help: one of the command, and one of each subcommand.

    apns-batch --experimental-dump-help | scripts/packaging/manual.py FOLDER --version 1.2.0 --time SECONDS

--time: seconds since 1970; its day is the date of the pages, so that the same source gives the same bytes.
"""

import argparse
import datetime
import json
import os
import re
import sys

# Sections that a line of a discussion begins.
HEADINGS = {"Example:": "EXAMPLES", "Examples:": "EXAMPLES", "Exit codes:": "EXIT STATUS"}


def escaped(text):
    """Text for roff. Hyphens stay hyphens when they are copied into a shell, and no line becomes a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    text = text.replace("^", "\\(ha").replace("~", "\\(ti")
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def heading(title):
    return f'.SH "{title}"' if " " in title else f".SH {title}"


def body(text):
    """The lines of a discussion: paragraphs are filled, and indented lines stay as they are."""
    is_literal = False
    for line in text.splitlines():
        if line.startswith("  ") != is_literal and line:
            is_literal = not is_literal
            yield ".PP\n.RS 4\n.nf" if is_literal else ".fi\n.RE\n.PP"
        if line in HEADINGS:
            yield heading(HEADINGS[line])
        elif line:
            yield escaped(line[2:] if is_literal else line)
        else:
            yield "" if is_literal else ".PP"
    if is_literal:
        yield ".fi\n.RE"


def tidy(lines):
    """Lines without paragraphs and blank lines that would be empty, about which groff and mandoc complain."""
    kept = []
    for line in "\n".join(lines).splitlines():
        ends_block = line.startswith((".PP", ".SH", ".fi", ".TP"))
        while kept and (kept[-1] == ".PP" and line.startswith((".PP", ".SH", ".TP")) or ends_block and kept[-1] == ""):
            kept.pop()
        if line == ".PP" and kept and kept[-1].startswith((".SH", ".TH")):
            continue
        kept.append(line)
    while kept and kept[-1] in (".PP", ""):
        kept.pop()
    return "\n".join(kept) + "\n"


def value(argument):
    return f"\\fI{escaped(argument['valueName'])}\\fR"


def names(argument):
    """The names of an option as the user types them, shortest first."""
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    spelled = [dashes[name["kind"]] + name["name"] for name in argument.get("names", [])]
    bold = [f"\\fB{escaped(name)}\\fR" for name in sorted(spelled, key=len)]
    return ", ".join(bold) + (f" {value(argument)}" if argument["kind"] == "option" else "")


def usage(argument):
    if argument["kind"] == "positional":
        text = value(argument) + (" ..." if argument["isRepeating"] else "")
    else:
        text = names({**argument, "names": [argument["preferredName"]]})
    return f"[{text}]" if argument["isOptional"] else text


def synopsis(name, command):
    """Options that may be left out are many, and stand together."""
    shown = [argument for argument in command.get("arguments", []) if argument["shouldDisplay"]]
    parts = ["[\\fIoptions\\fR]"] if any(a["kind"] != "positional" and a["isOptional"] for a in shown) else []
    parts += [usage(a) for a in shown if a["kind"] != "positional" and not a["isOptional"]]
    parts += [usage(a) for a in shown if a["kind"] == "positional"]
    if subcommands(command):
        parts.append("\\fIsubcommand\\fR ...")
    return f"\\fB{escaped(name)}\\fR " + " ".join(parts)


def described(argument):
    text = argument.get("abstract", "")
    text += "\n" + argument["discussion"] if argument.get("discussion") else ""
    term = value(argument) if argument["kind"] == "positional" else names(argument)
    return [".TP", term, escaped(text.strip())] if text.strip() else [".TP", term, "\\&"]


def arguments(command):
    """The arguments under the titles that the help gives them."""
    titles = {}
    for argument in command.get("arguments", []):
        if argument["shouldDisplay"]:
            kind = "Arguments" if argument["kind"] == "positional" else "Options"
            titles.setdefault(argument.get("sectionTitle") or kind, []).extend(described(argument))
    # "Options" are those that every command has, and stand last.
    for title in sorted(titles, key=lambda title: title == "Options"):
        yield heading(title.upper())
        yield from titles[title]


def subcommands(command):
    return [sub for sub in command.get("subcommands", []) if sub["commandName"] != "help" and sub["shouldDisplay"]]


def nested(name, command):
    """The subcommands of a subcommand, which have no page of their own."""
    for sub in subcommands(command):
        full = f"{name} {sub['commandName']}"
        yield heading(full.removeprefix("apns-batch ").upper())
        yield from [synopsis(full, sub), ".PP", escaped(sub.get("abstract", "")), ".PP"]
        yield from body(sub.get("discussion") or "")
        for argument in sub.get("arguments", []):
            if argument["shouldDisplay"] and argument.get("valueName") not in ("help", "version"):
                yield from described(argument)


def page(title, name, command, asked, listed, others):
    date = datetime.datetime.fromtimestamp(asked.time, datetime.timezone.utc).date()
    discussion = command.get("discussion") or ""
    # What begins with a heading is no description.
    begin = [] if discussion.partition("\n")[0] in HEADINGS else [".SH DESCRIPTION"]
    lines = [
        f'.TH {title.upper()} 1 {date} "apns-batch {asked.version}" "User Commands"',
        ".SH NAME", f"{escaped(title)} \\- {escaped(command.get('abstract', '').rstrip('.'))}",
        ".SH SYNOPSIS", synopsis(name, command), *begin, *([] if discussion else [escaped(command["abstract"])]),
        *arguments_last(discussion, command), *listed,
        ".SH SEE ALSO", ",\n".join(f"\\fB{escaped(other)}\\fR(1)" for other in others),
    ]
    return tidy(lines)


def arguments_last(discussion, command):
    """The description, then the arguments, then what the discussion has under headings."""
    rows = discussion.splitlines()
    first = next((index for index, row in enumerate(rows) if row in HEADINGS), len(rows))
    return [*body("\n".join(rows[:first])), *arguments(command), *body("\n".join(rows[first:]))]


def pages(command, asked):
    """File → text."""
    name, subs = command["commandName"], subcommands(command)
    titles = [f"{name}-{sub['commandName']}" for sub in subs]
    listed = [".SH SUBCOMMANDS"]
    for title, sub in zip(titles, subs):
        listed += [".TP", f"\\fB{escaped(title)}\\fR(1)", escaped(sub["abstract"])]
    yield f"{name}.1", page(name, name, command, asked, listed, titles)
    for title, sub in zip(titles, subs):
        full = f"{name} {sub['commandName']}"
        yield f"{title}.1", page(title, full, sub, asked, nested(full, sub), [name])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--version", required=True)
    parser.add_argument("--time", type=int, required=True)
    asked = parser.parse_args()
    os.makedirs(asked.folder, exist_ok=True)
    for file, text in pages(json.load(sys.stdin)["command"], asked):
        with open(os.path.join(asked.folder, file), "w", encoding="utf-8") as out:
            out.write(text)


main()
