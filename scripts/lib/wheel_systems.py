#!/usr/bin/python3
"""Says which systems a command runs on, by what it needs of their libraries.

    python3 scripts/lib/wheel_systems.py BINARY            prints the tag of the wheel, such as manylinux_2_34_x86_64
    python3 scripts/lib/wheel_systems.py BINARY --needs    prints each library with its newest version that is needed

It fails if the command needs a library, or a version of one, beyond the tables below, and names each symbol that does.
"""

import os
import platform
import re
import subprocess
import sys

# The libraries that a system must have. Those of glibc and of the compiler are parts of every system of the tag.
LIBRARIES = {
    "libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1", "libssl.so.3", "libcrypto.so.3", "libz.so.1"}
# The newest version of each that may be needed. 2.34 is the first glibc whose functions of threads are in libc.so.6: a command that is
# linked on a newer system cannot need less.
NEWEST = {"GLIBC": (2, 34), "GCC": (4, 3, 0), "OPENSSL": (3, 0, 0), "ZLIB": (1, 2, 3)}
SYMBOL = re.compile(r"\*UND\*\s+[0-9a-f]+\s+\((?P<set>[A-Z]+)_(?P<version>[0-9.]+)\)\s+(?P<name>\S+)$")


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout


def numbers(version):
    return tuple(map(int, version.split(".")))


def needed_libraries(binary):
    return set(re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", output_of("readelf", "--dynamic", binary)))


def needed_symbols(binary):
    """The set of versions, such as GLIBC, the version in it and the name of each symbol that another library must have."""
    found = (SYMBOL.search(line) for line in output_of("objdump", "--dynamic-syms", binary).splitlines())
    return [(match["set"], numbers(match["version"]), match["name"]) for match in found if match]


def breaches(libraries, symbols):
    for library in sorted(libraries - LIBRARIES):
        yield f"{library} is needed, which not every system of the tag has"
    for versions, version, name in sorted(symbols):
        if versions not in NEWEST:
            yield f"{name} needs {versions}, of which no version is allowed"
        elif version > NEWEST[versions]:
            yield f"{name} needs {text_of(versions, version)}, newer than {text_of(versions, NEWEST[versions])}"


def newest(symbols):
    """The newest version of each set that is needed."""
    found = {}
    for versions, version, _ in symbols:
        found[versions] = max(version, found.get(versions, version))
    return found


def text_of(versions, version):
    return f"{versions}_{'.'.join(map(str, version))}"


def tag_of(symbols):
    """The tag of PEP 600: the glibc that a system must have at least."""
    major, minor = newest(symbols)["GLIBC"][:2]
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def main():
    binary = sys.argv[1]
    libraries, symbols = needed_libraries(binary), needed_symbols(binary)
    found = list(breaches(libraries, symbols))
    if found:
        sys.exit("\n".join(f"wheel: {breach}" for breach in found))
    if sys.argv[2:] == ["--needs"]:
        for versions, version in sorted(newest(symbols).items()):
            print(text_of(versions, version))
        print(*sorted(libraries), sep="\n")
    else:
        print(tag_of(symbols))


if __name__ == "__main__":
    main()
