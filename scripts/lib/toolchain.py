"""The flags with which a compiler finds the modules that `swift build` has made."""

import glob
import os
import platform
import sys

BUILD = ".build/debug"


def import_flags(root=".", build=BUILD):
    """root: the checkout. build: the folder with the modules."""
    modules = os.path.join(build, "Modules")
    if not os.path.isdir(modules):
        sys.exit("nothing is built; run `swift build` first")
    flags = ["-I", modules]
    for pattern in (
            f"{build}/*.build/module.modulemap", f"{root}/CSupport/System/*/module.modulemap",
            f"{root}/.build/checkouts/*/Sources/*/include/module.modulemap"):
        for path in sorted(glob.glob(pattern)):
            # Of C++, which no Swift module here imports.
            if "/Benchmarks/" not in path:
                flags += ["-Xcc", f"-fmodule-map-file={path}"]
    for path in sorted(glob.glob(f"{root}/CSupport/*/include")):
        flags += ["-Xcc", f"-I{path}"]
    return flags


def target():
    return f"{platform.machine()}-unknown-linux-gnu"
