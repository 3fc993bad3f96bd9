"""Links between the documents of the repository: to files, and to headings in them."""

import os
import re
import subprocess
from urllib.parse import unquote

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:")


def documents():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True, check=True)
    return listed.stdout.split("\n")[:-1]


def prose(path):
    """The lines outside of code blocks, with their numbers. Code is not prose: it may have brackets of its own."""
    with open(path, encoding="utf-8") as file:
        is_code, found = False, []
        for number, line in enumerate(file, 1):
            if line.lstrip().startswith("```"):
                is_code = not is_code
            elif not is_code and not line.startswith("    "):
                found.append((number, re.sub(r"`[^`]*`", "``", line)))
        return found


def anchors(path):
    """The names under which GitHub shows the headings of a document: repeated ones get a number."""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"^ *```.*?^ *```", "", file.read(), flags=re.DOTALL | re.MULTILINE)
    found = []
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        repeated = sum(1 for other in found if other == name or re.fullmatch(re.escape(name) + r"-\d+", other))
        found.append(f"{name}-{repeated}" if repeated else name)
    return set(found)


def breaches_of_links(paths):
    for path in paths:
        for number, line in prose(path):
            for link in LINK.findall(line):
                if not ELSEWHERE.match(link) and (fault := fault_of(path, link)):
                    yield f"{path}:{number}: {fault}"


def fault_of(path, link):
    name, _, anchor = unquote(link).partition("#")
    target = os.path.join(os.path.dirname(path), name) if name else path
    if not os.path.exists(target):
        return f"the link leads nowhere: {link}"
    if anchor and target.endswith(".md") and anchor not in anchors(target):
        return f"{os.path.relpath(target)} has no heading for #{anchor}"
    return None
