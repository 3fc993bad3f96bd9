"""Package.swift, held against the table INSIDE and against what the library must not have in it."""

import os

from .graph import ALLOWED, closure, dependencies, dump, is_own
from .rules import FOLDERS, FOUNDATION, INSIDE, KERNEL_CALLS, LIBRARY, OUTSIDE_LIBRARY, OTHER_LIBRARIES
from .sources import read, without_comments


def header_search_paths(target):
    return {
        os.path.basename(setting["kind"]["headerSearchPath"]["_0"]) for setting in target["settings"]
        if "headerSearchPath" in setting["kind"]}


def target_breaches(target):
    name = target["name"]
    for inside in sorted(header_search_paths(target) ^ INSIDE.get(name, set())):
        yield f"Package.swift: the header search paths of {name} and the table INSIDE differ in {inside}"
    for setting in target["settings"]:
        if "unsafeFlags" in setting["kind"]:
            yield f"Package.swift: {name} has unsafeFlags"


def library_breaches(package):
    graph = {target["name"]: dependencies(target) for target in package["targets"]}
    for product in package["products"]:
        if "library" in product["type"]:
            if product["name"] != LIBRARY and product["name"] not in OTHER_LIBRARIES:
                yield f"Package.swift: the library {product['name']} is not known to the rules"
            allowed = OTHER_LIBRARIES.get(product["name"], set())
            found = closure(product["targets"], graph) & OUTSIDE_LIBRARY
            for name in sorted(found - allowed):
                yield f"Package.swift: the library {product['name']} has {name} in it"
            for name in sorted(allowed - found):
                yield f"Package.swift: the library {product['name']} has no {name} in it, which the table OTHER_LIBRARIES allows"


def table_breaches(targets):
    """Rows that speak of nothing, and modules about which too little is said. targets: the names in Package.swift."""
    for table, names in (("FOLDERS", FOLDERS), ("FOUNDATION", FOUNDATION), ("INSIDE", INSIDE), ("KERNEL_CALLS", KERNEL_CALLS)):
        for name in sorted(set(names) - set(ALLOWED)):
            yield f"the table {table} has {name}, which is no target"
    for name in sorted(OUTSIDE_LIBRARY - targets):
        yield f"OUTSIDE_LIBRARY has {name}, which is no target"
    for name in sorted(set(ALLOWED) - closure([LIBRARY], ALLOWED) - OUTSIDE_LIBRARY):
        yield f"{name} is neither in the library nor in OUTSIDE_LIBRARY"


def manifest_breaches(root):
    if "unsafeFlags" in without_comments(read(os.path.join(root, "Package.swift"))):
        yield "Package.swift: unsafeFlags would make the library unusable as a dependency"
    package = dump(root)
    for target in package["targets"]:
        if is_own(target):
            yield from target_breaches(target)
    yield from library_breaches(package)
    yield from table_breaches({target["name"] for target in package["targets"]})
