"""Folders inside of Swift modules: each refers only to types of its own and of folders before it (the table FOLDERS)."""

import os

from .graph import ALLOWED
from .rules import FOLDERS
from .sources import files_below, read
from .swift import SwiftFile


def place_of(relative, places):
    """The entry of the table to which a file belongs: its top-level folder, its own name, or "."."""
    first, separator, _ = relative.partition(os.sep)
    return first if separator or first in places else "."


def ranks(row):
    """Entry → position; the members of a group have the same."""
    return {name: rank for rank, entry in enumerate(row) for name in ([entry] if isinstance(entry, str) else entry)}


def row_breaches(module, places, row):
    known = ranks(row)
    for name in sorted(places - set(known)):
        yield f"Sources/{module}: '{name}' is not in the row of {module} in the table FOLDERS"
    for name in sorted(set(known) - places):
        yield f"Sources/{module}: the table FOLDERS has '{name}', which does not exist"


def shadowed(name, around, nested):
    """Whether a name means a type that is declared inside of one of the types around it."""
    return any(name in nested.get(path, ()) for path in around)


def reference_breaches(module, files, rank):
    """files: relative path → (entry of the table, SwiftFile)."""
    owners, nested = {}, {}
    for place, file in files.values():
        for name in file.declared:
            owners.setdefault(name, set()).add(place)
        for path, names in file.nested.items():
            nested.setdefault(path, set()).update(names)
    for relative, (place, file) in files.items():
        told = set()
        for name, line, around in file.references:
            if name not in owners or name in file.local or name in told or shadowed(name, around, nested):
                continue
            if all(rank[owner] > rank[place] for owner in owners[name]):
                told.add(name)
                above = " and ".join(sorted(owners[name]))
                yield f"Sources/{module}/{relative}:{line}: '{place}' must not refer to {name}, which is declared above it in '{above}'"


def object_breaches(module, objects, places):
    """References from object to object, which show what names of types do not: functions, members of extensions,
    conformances. places: name of an object → entry of the table."""
    rank = ranks(FOLDERS[module])
    owners = {}
    for entry in objects:
        for symbol in entry.defined:
            owners.setdefault(symbol, set()).add(places[entry.name])
    for entry in objects:
        place = places[entry.name]
        for symbol in sorted(entry.undefined & owners.keys()):
            if all(rank[owner] > rank[place] for owner in owners[symbol]):
                above = " and ".join(sorted(owners[symbol]))
                yield f"{module}: {entry.name} of '{place}' must not refer to {symbol}, which is defined above it in '{above}'"


def places_of_objects(root, module):
    path = os.path.join(root, "Sources", module)
    return {
        os.path.basename(name) + ".o": place_of(os.path.relpath(name, path), ranks(FOLDERS[module]))
        for name in files_below(path) if name.endswith(".swift")}


def module_breaches(root, module):
    path = os.path.join(root, "Sources", module)
    row = FOLDERS.get(module)
    relatives = [os.path.relpath(name, path) for name in files_below(path) if name.endswith(".swift")]
    places = {place_of(relative, ranks(row or [])) for relative in relatives}
    if row is None:
        if len(places) > 1:
            yield f"Sources/{module}: has folders and no row in the table FOLDERS"
        return
    wrong = list(row_breaches(module, places, row))
    yield from wrong
    if wrong:
        return
    files = {}
    for relative in relatives:
        try:
            file = SwiftFile(read(os.path.join(path, relative)), module)
        except ValueError as error:
            yield f"Sources/{module}/{relative}: {error}"
            continue
        files[relative] = (place_of(relative, ranks(row)), file)
    yield from reference_breaches(module, files, ranks(row))


def folder_breaches(root):
    for module in ALLOWED:
        if os.path.isdir(os.path.join(root, "Sources", module)):
            yield from module_breaches(root, module)
