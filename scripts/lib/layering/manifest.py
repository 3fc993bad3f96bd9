"""Package.swift, held against the tables ALLOWED and INSIDE and against what the library must not have in it."""

import json
import os
import subprocess
import sys

from .rules import ALLOWED, FOLDERS, FOUNDATION, INSIDE, KERNEL_CALLS, LIBRARY, OUTSIDE_LIBRARY, OTHER_LIBRARIES
from .sources import read, without_comments


def dump(root):
    done = subprocess.run(
        ["swift", "package", "--package-path", root, "dump-package"], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit("check-layering: Package.swift cannot be read")
    return json.loads(done.stdout)


def dependencies(target):
    return {
        dependency[kind][0] for dependency in target["dependencies"] for kind in ("byName", "target", "product")
        if kind in dependency}


def header_search_paths(target):
    return {
        os.path.basename(setting["kind"]["headerSearchPath"]["_0"]) for setting in target["settings"]
        if "headerSearchPath" in setting["kind"]}


def target_breaches(target):
    name = target["name"]
    if name not in ALLOWED:
        yield f"Package.swift: target {name} is not in the table ALLOWED"
        return
    for dependency in sorted(dependencies(target) - ALLOWED[name]):
        yield f"Package.swift: {name} must not depend on {dependency}"
    for dependency in sorted(ALLOWED[name] - dependencies(target)):
        yield f"Package.swift: {name} does not depend on {dependency}, which the table ALLOWED has"
    for inside in sorted(header_search_paths(target) ^ INSIDE.get(name, set())):
        yield f"Package.swift: the header search paths of {name} and the table INSIDE differ in {inside}"
    for setting in target["settings"]:
        if "unsafeFlags" in setting["kind"]:
            yield f"Package.swift: {name} has unsafeFlags"


def closure(names, graph):
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(graph.get(name, ()))
    return found


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
            yield f"the table {table} has {name}, which is not in the table ALLOWED"
    for name in sorted(OUTSIDE_LIBRARY - targets):
        yield f"OUTSIDE_LIBRARY has {name}, which is no target"
    for name in sorted(set(ALLOWED) - closure([LIBRARY], ALLOWED) - OUTSIDE_LIBRARY):
        yield f"{name} is neither in the library nor in OUTSIDE_LIBRARY"


def manifest_breaches(root):
    if "unsafeFlags" in without_comments(read(os.path.join(root, "Package.swift"))):
        yield "Package.swift: unsafeFlags would make the library unusable as a dependency"
    package = dump(root)
    listed = set()
    for target in package["targets"]:
        outside = (target.get("path") or "").startswith(("Tests/", "Fuzz/", "Benchmarks/"))
        if target["type"] not in ("test", "system") and not outside:
            listed.add(target["name"])
            yield from target_breaches(target)
    for name in sorted(set(ALLOWED) - listed):
        yield f"Package.swift: has no target {name}, which the table ALLOWED has"
    yield from library_breaches(package)
    yield from table_breaches({target["name"] for target in package["targets"]})
