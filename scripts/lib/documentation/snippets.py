"""Snippets as a symbol graph, in the form that swift-docc-plugin gives to them."""

import os
import re

from .symbols import write

MARK = re.compile(r"^\s*//\s*snippet\.([\w-]+)\s*$")


def parse(text):
    """The text of a snippet as it is shown: its explanation, its lines, and its slices as ranges of lines."""
    lines = text.split("\n")
    explanation = []
    while lines and lines[0].startswith("//") and not MARK.match(lines[0]):
        explanation.append(lines.pop(0).removeprefix("//").strip())
    shown, slices, current, hidden = [], {}, None, False
    for line in lines:
        mark = MARK.match(line)
        if not mark:
            if not hidden:
                shown.append(line)
            continue
        word = mark.group(1)
        if word in ("hide", "show"):
            hidden = word == "hide"
            continue
        if current is not None:
            name, start = current
            slices[name] = [start, len(shown)]
        current = None if word == "end" else (word, len(shown))
    if current is not None:
        slices[current[0]] = [current[1], len(shown)]
    return explanation, shown, slices


def symbol(path, package):
    name = os.path.splitext(os.path.basename(path))[0]
    with open(path, encoding="utf-8") as file:
        explanation, lines, slices = parse(file.read())
    return {
        "accessLevel": "public", "isVirtual": True,
        "identifier": {"interfaceLanguage": "swift", "precise": f"$snippet__{package}.{name}"},
        "kind": {"displayName": "Snippet", "identifier": "swift.snippet"},
        "names": {"title": name}, "pathComponents": ["Snippets", name],
        "docComment": {"lines": [{"text": line} for line in explanation]},
        "snippet": {"language": "swift", "lines": lines, "slices": slices},
    }


def snippet_graph(folder, output, package="apns-batch"):
    """Writes the symbol graph of all snippets of a folder, and returns its path."""
    os.makedirs(output, exist_ok=True)
    names = sorted(name for name in os.listdir(folder) if name.endswith(".swift"))
    path = os.path.join(output, f"{package}-snippets.symbols.json")
    write(path, {
        "metadata": {"formatVersion": {"major": 0, "minor": 1, "patch": 0}, "generator": "scripts/docs"},
        "module": {
            "name": package, "isVirtual": True,
            "platform": {"architecture": None, "vendor": None, "operatingSystem": {"name": "linux"}}},
        "relationships": [],
        "symbols": [symbol(os.path.join(folder, name), package) for name in names],
    })
    return path
