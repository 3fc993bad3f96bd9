"""The targets of Package.swift and what each depends on: exactly this it may import and include."""

import json
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
# Folders of targets that are tests, or serve them.
BESIDE = ("Tests/", "Fuzz/", "Benchmarks/")


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


def is_own(target):
    """Whether it is one of the project's modules: no test, no library of the system."""
    return target["type"] not in ("test", "system") and not (target.get("path") or "").startswith(BESIDE)


def edges(package):
    """Target → what it depends on, of our targets and of packages; in the order of the manifest, lowest first."""
    return {target["name"]: dependencies(target) for target in package["targets"] if is_own(target)}


def closure(names, graph):
    found, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(graph.get(name, ()))
    return found


PACKAGE = dump(ROOT)
ALLOWED = edges(PACKAGE)
