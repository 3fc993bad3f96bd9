"""Imports of Swift files and includes of C files, held against the dependencies in Package.swift."""

import os
import re

from .graph import ALLOWED
from .rules import (
    FOUNDATION, INSIDE, KERNEL_HEADERS, KERNEL_TARGET, LIBRARY_FILES, LIBRARY_HEADERS, SNIPPET_IMPORTS, TOOLCHAIN,
    TRIED)
from .swift import code_of

SWIFT_IMPORT = re.compile(
    r"^\s*(?:@[\w()]+\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|var|let|actor)\s+)?(\w+)")
# A function behind a lock is wrapped in two more at each access (Guarded.swift).
GUARDED_FUNCTION = re.compile(r"\b(?:Guarded|Mutex)<[^<>\[]*->")
SWIFT_EXPORT = re.compile(r"@_exported\s+import\s+(\w+)")
C_INCLUDE = re.compile(r'^\s*#\s*(?:include|import|include_next)\s*([<"])([^>"]+)[>"]')


def without_comments(text):
    """C text with comments blanked, lines kept."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)

    def blank(match):
        found = match.group(0)
        return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)

    return pattern.sub(blank, text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def folder(root, target):
    for parent in ("Sources", "CSupport"):
        path = os.path.join(root, parent, target)
        if os.path.isdir(path):
            return path
    return None


def files_below(path):
    """The files of a folder, without those of catalogues of documentation, which are compiled as programs of their own."""
    for parent, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.endswith(".docc"))
        for name in sorted(files):
            yield os.path.join(parent, name)


def header_owners(root):
    """Public header name → target."""
    owners = {}
    for target in ALLOWED:
        include = os.path.join(root, "CSupport", target, "include")
        if os.path.isdir(include):
            for path in files_below(include):
                owners[os.path.relpath(path, include)] = target
    return owners


def swift_breaches(target, text, used):
    for number, line in enumerate(code_of(text).split("\n"), 1):
        if GUARDED_FUNCTION.search(line):
            yield number, "a function must not be the value of a lock: make it a member of a struct"
        for statement in line.split(";"):
            found = SWIFT_IMPORT.match(statement)
            if not found:
                continue
            module = found.group(1)
            used.add(module)
            if module not in TOOLCHAIN and module not in ALLOWED[target] and module not in FOUNDATION.get(target, ()):
                yield number, f"{target} must not import {module}"


def c_breaches(target, file, text, owners, own, used):
    for number, line in enumerate(without_comments(text).split("\n"), 1):
        found = C_INCLUDE.match(line)
        if not found:
            continue
        name = found.group(2)
        if "../" in name:
            yield number, f"{target} reaches out of its folder: {name}"
            continue
        needed = owners.get(name)
        for pattern, module in LIBRARY_HEADERS.items():
            if pattern.match(name):
                needed = module
        used.add(needed)
        if found.group(1) == '"' and name in own:
            continue
        if needed is not None:
            if needed != target and needed not in ALLOWED[target]:
                yield number, f"{target} must not include {name} (it belongs to {needed})"
            elif file != LIBRARY_FILES.get((target, needed), file):
                yield number, f"{target} includes {name} in {LIBRARY_FILES[target, needed]} only"
        elif found.group(1) == '"':
            yield number, f"{target} includes {name}, which is no header of its own"
        elif KERNEL_HEADERS.match(name) and target != KERNEL_TARGET and name not in TRIED.get(target, ()):
            yield number, f"{target} must not include {name}: only {KERNEL_TARGET} talks to the kernel"


def exported_by(root):
    """Swift module → modules that it exports as if they were its own."""
    found = {}
    for target in ALLOWED:
        for path in files_below(os.path.join(root, "Sources", target)):
            if path.endswith(".swift"):
                found.setdefault(target, set()).update(SWIFT_EXPORT.findall(code_of(read(path))))
    return found


def target_breaches(root, target, owners):
    path = folder(root, target)
    if path is None:
        yield f"{target}: no such target in Sources or CSupport"
        return
    files = list(files_below(path))
    own = {os.path.relpath(name, path) for name in files} | {os.path.basename(name) for name in files}
    inside = INSIDE.get(target, set())
    own |= {os.path.basename(name) for other in inside for name in files_below(folder(root, other))}
    # Internal headers of other targets bring in what those targets include.
    used = set(inside).union(*(ALLOWED[other] for other in inside))
    for name in files:
        if name.endswith(".swift"):
            found = swift_breaches(target, read(name), used)
        elif name.endswith((".c", ".h")):
            found = c_breaches(target, os.path.basename(name), read(name), owners, own, used)
        else:
            continue
        for number, message in found:
            yield f"{os.path.relpath(name, root)}:{number}: {message}"
    for module in sorted((ALLOWED[target] | FOUNDATION.get(target, set())) - used):
        yield f"{target}: Package.swift or FOUNDATION has {module}, which no file imports or includes"


def shown_programs(root):
    """The programs that documentation shows: snippets, and the steps of tutorials."""
    yield from files_below(os.path.join(root, "Snippets"))
    for target in ALLOWED:
        yield from files_below(os.path.join(root, "Sources", target, f"{target}.docc", "Resources"))


def snippet_breaches(root):
    for path in shown_programs(root):
        if not path.endswith(".swift"):
            continue
        for number, line in enumerate(code_of(read(path)).split("\n"), 1):
            found = SWIFT_IMPORT.match(line)
            if found and found.group(1) not in SNIPPET_IMPORTS:
                yield f"{os.path.relpath(path, root)}:{number}: a snippet must not import {found.group(1)}"


def source_breaches(root):
    owners = header_owners(root)
    for target in ALLOWED:
        yield from target_breaches(root, target, owners)
    yield from snippet_breaches(root)
    for parent in ("Sources", "CSupport"):
        for name in sorted(os.listdir(os.path.join(root, parent))):
            if name not in ALLOWED and name != "System":
                yield f"{parent}/{name}: no target of Package.swift"
