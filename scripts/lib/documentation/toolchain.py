"""The flags with which a compiler finds the modules that `swift build` has made."""

import glob
import os
import platform
import sys

MODULES = ".build/debug/Modules"


def import_flags():
    if not os.path.isdir(MODULES):
        sys.exit("nothing is built; run `swift build` first")
    flags = ["-I", MODULES]
    for pattern in (
            ".build/debug/*.build/module.modulemap", "CSupport/System/*/module.modulemap",
            ".build/checkouts/*/Sources/*/include/module.modulemap"):
        for path in sorted(glob.glob(pattern)):
            # Of C++, which no Swift module here imports.
            if "/Benchmarks/" not in path:
                flags += ["-Xcc", f"-fmodule-map-file={path}"]
    for path in sorted(glob.glob("CSupport/*/include")):
        flags += ["-Xcc", f"-I{path}"]
    return flags


def target():
    return f"{platform.machine()}-unknown-linux-gnu"
