"""Object files of a debug build: which kernel calls, library functions and functions of ours they refer to, and which
names they define. Also a program that links the library."""

import itertools
import os
import re
import subprocess

from . import folders
from .graph import ALLOWED, closure
from .rules import (
    FOLDERS, HARMLESS, INSIDE, KERNEL_CALLS, LIBRARY, LIBRARY_SYMBOLS, OPENSSL_KERNEL, OUTSIDE_LIBRARY, OUTSIDE_NAMES)
from .sources import exported_by, files_below, folder

FOUNDATION_CALL = re.compile(
    r"(FileManager|FileHandle|FileWrapper|ProcessInfo|(?<=\d)Process(?=C)|(?<=\d)Thread(?=C)|(?<=\d)Timer(?=C)|(?<=\d)Pipe(?=C)"
    r"|RunLoop|URLSession|Bundle|UserDefaults|contentsOf|fileURLWithPath|resolvingSymlinks|[rR]esourceIsReachable"
    r"|resourceValues|(?<=DateV3)now|(?<=DateV)ACycfC|(?<=5)write(?=2to))")
# What of Swift itself reaches the kernel, by the beginning of its symbols.
SWIFT_CALLS = [
    (re.compile(r"\$ss5print"), "print"),
    (re.compile(r"\$ss8readLine"), "readLine"),
    (re.compile(r"\$ss(\d+)(ContinuousClock|SuspendingClock)"), None),
    (re.compile(r"\$s8Dispatch"), "Dispatch"),
    (re.compile(r"swift_task_create"), "Task"),
    (re.compile(r"swift_stdlib_random"), "swift_stdlib_random"),
]


class Object:
    """An object file: the names it defines for others, and those that it refers to and does not define."""

    def __init__(self, path):
        self.path, self.defined, self.undefined = path, set(), set()

    @property
    def name(self):
        return os.path.basename(self.path)


def read_objects(paths):
    """All of them through one call of nm."""
    paths = list(paths)
    if not paths:
        return []
    done = subprocess.run(["nm", "-g", "-A", "-P", *paths], check=True, capture_output=True, text=True)
    objects = {path: Object(path) for path in paths}
    for line in done.stdout.split("\n"):
        found = re.match(r"(.+?\.o): (.+?) ([A-Za-z])(?: |$)", line)
        if found:
            entry = objects[found.group(1)]
            (entry.undefined if found.group(3) in "Uwv" else entry.defined).add(found.group(2))
    return list(objects.values())


def object_of(path, build, target, source):
    """Where the build keeps the object of a source file."""
    name = os.path.relpath(source, path) if source.endswith(".c") else os.path.basename(source)
    return os.path.join(build, target.replace("-", "_") + ".build", name + ".o")


def objects_of_build(root, build):
    """Target → objects whose sources exist, since a build leaves objects of deleted sources behind; and what is missing."""
    wanted, missing = {}, []
    for target in ALLOWED:
        path = folder(root, target)
        for source in files_below(path) if path else ():
            if source.endswith((".c", ".swift")):
                name = object_of(path, build, target, source)
                if os.path.exists(name):
                    wanted[name] = target
                else:
                    missing.append(f"{os.path.relpath(source, root)}: has no object in {os.path.relpath(build, root)}: build first")
    targets = {target: [] for target in ALLOWED}
    for entry in read_objects(wanted):
        targets[wanted[entry.path]].append(entry)
    return targets, missing


def swift_call(symbol):
    """The kernel call behind a symbol of Swift, or None."""
    # The module Glibc declares functions itself where those of C take a variable number of arguments. Constants are no calls.
    glibc = re.match(r"\$s5Glibc(\d+)(\w+)", symbol)
    if glibc:
        name = glibc.group(2)[:int(glibc.group(1))]
        return name if name != "errno" and not name.isupper() else None
    for pattern, name in SWIFT_CALLS:
        found = pattern.match(symbol)
        if found:
            return name or found.group(2)
    if "Foundation" in symbol:
        found = FOUNDATION_CALL.search(symbol)
        return "Foundation." + found.group(1).replace("ACycfC", "now") if found else None
    return None


def library_of(symbol):
    return next((module for pattern, module in LIBRARY_SYMBOLS.items() if pattern.match(symbol)), None)


def kernel_call(symbol):
    """The kernel call behind an undefined symbol, or None."""
    if symbol in HARMLESS or symbol.startswith("apns_"):
        return None
    if symbol.startswith(("$s", "swift_", "_swift_", "__swift_")):
        return swift_call(symbol)
    library = library_of(symbol)
    if library in (None, "CAPNSURing"):
        return symbol
    return symbol if library == "CAPNSOpenSSL" and OPENSSL_KERNEL.match(symbol) else None


def kernel_breaches(target, objects):
    """Calls that are not in the table KERNEL_CALLS."""
    allowed = {call for calls in KERNEL_CALLS.get(target, {}) for call in calls.split()}
    for entry in objects:
        for call in sorted({call for call in map(kernel_call, entry.undefined) if call} - allowed):
            yield f"{target}: {entry.name} calls {call}, which is neither in its row of KERNEL_CALLS nor in HARMLESS"


def unused_calls(target, objects):
    allowed = {call for calls in KERNEL_CALLS.get(target, {}) for call in calls.split()}
    made = {call for entry in objects for call in map(kernel_call, entry.undefined)}
    for call in sorted(allowed - made):
        yield f"{target}: the table KERNEL_CALLS allows {call}, which no object calls"


def reference_breaches(target, objects, owners, exported):
    """References to other targets and to libraries: a C function needs no include to be linked, and a member of an
    extension no import."""
    imported = ALLOWED[target] | INSIDE.get(target, set())
    allowed = {target} | imported | closure(set().union(*(exported.get(module, ()) for module in imported)), exported)
    for entry in objects:
        for symbol in sorted(entry.undefined):
            library = library_of(symbol)
            owner = {library} if library else owners.get(symbol)
            if owner and not owner & allowed:
                yield f"{target}: {entry.name} refers to {symbol}, which belongs to {' and '.join(sorted(owner))}"


def name_breaches(target, objects):
    for entry in objects:
        for symbol in sorted(entry.defined):
            if not symbol.startswith("apns_"):
                yield f"{target}: {entry.name} defines {symbol}, a global name without apns_ in front"
            elif target in closure([LIBRARY], ALLOWED) and OUTSIDE_NAMES.match(symbol):
                yield f"{target}: {entry.name} defines {symbol}, which by its name belongs outside of the library"


def is_c(target):
    return target.startswith("CAPNS")


def symbol_owners(targets):
    """Symbol → the targets that define it, which are several for what the compiler emits wherever it is needed."""
    owners = {}
    for target, objects in targets.items():
        for entry in objects:
            for symbol in entry.defined:
                owners.setdefault(symbol, set()).add(target)
    return owners


def object_breaches(root, build):
    targets, missing = objects_of_build(root, build)
    yield from missing
    owners, exported = symbol_owners(targets), exported_by(root)
    for target, objects in targets.items():
        yield from kernel_breaches(target, objects)
        yield from unused_calls(target, objects)
        yield from reference_breaches(target, objects, owners, exported)
        if is_c(target):
            yield from name_breaches(target, objects)
        elif target in FOLDERS:
            yield from folders.object_breaches(target, objects, folders.places_of_objects(root, target))


def names_in_program(program):
    """All names, and those that are global."""
    done = subprocess.run(["nm", "--defined-only", program], check=True, capture_output=True, text=True)
    rows = [line.split(" ", 2) for line in done.stdout.split("\n") if line.count(" ") >= 2]
    return {name for _, _, name in rows}, {name for _, kind, name in rows if kind.isupper()}


def names_in_library(build):
    """What the C targets of the library define in a build."""
    targets = [target for target in closure([LIBRARY], ALLOWED) if is_c(target)]
    folders = [os.path.join(build, target + ".build") for target in targets]
    paths = [path for path in itertools.chain(*map(files_below, folders)) if path.endswith(".o")]
    return {symbol for entry in read_objects(paths) for symbol in entry.defined}


def program_breaches(program, build):
    """What a program that links the library must not have in it. build: the folder with the library's objects."""
    names, global_names = names_in_program(program)
    library = names_in_library(build)
    unknown = global_names - library
    if not library & names:
        yield f"{program}: has no C function of the library, so nothing is known about it"
    for module in sorted(target.replace("-", "_") for target in OUTSIDE_LIBRARY if not is_c(target)):
        found = sorted(name for name in names if name.startswith(f"$s{len(module)}{module}"))
        if found:
            yield f"{program}: has {len(found)} symbols of {module}, which is outside of the library: {found[0]}"
    for name in sorted(names):
        if OUTSIDE_NAMES.match(name):
            yield f"{program}: has {name}, which by its name belongs outside of the library"
        elif name.startswith("apns_") and name in unknown:
            yield f"{program}: has {name}, which no target of the library defines"
