#!/usr/bin/python3
"""Links the command for the wheel, from the objects of the last build.

    python3 scripts/lib/wheel_link.py BUILD OUTPUT

BUILD: the folder of the build, .build-package/build. OUTPUT: where the command goes. It is linked as `swift build` has linked it, but
libraries that other systems lack, or have in older versions, are taken from their archives (STATIC), and functions that glibc
has from 2.35 on are replaced (wheel_old_glibc.c). It prints the paths of the archives. The command of the Debian
package, which is in BUILD, is left alone.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

STATIC = ("stdc++", "nghttp2", "uring", "zstd")
OLD_GLIBC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wheel_old_glibc.c")
WRAPPED = ("hypot", "hypotf", "arc4random")


def link_command(build):
    """The arguments with which `swift build` has linked the command, from its own list of what it runs."""
    with open(os.path.join(build, "release.yaml"), encoding="utf-8") as file:
        for line in file:
            if re.match(r'    args: \[".*"-emit-executable"', line):
                arguments = json.loads(line.partition(":")[2])
                if os.path.basename(arguments[arguments.index("-o") + 1]) == "apns-batch":
                    return arguments
    sys.exit(f"wheel: {build} has no build of the command; run scripts/wheel without --no-build")


def archive(compiler, name):
    """The archive of a library, in one of the folders of the compiler."""
    path = subprocess.run([compiler, f"-print-file-name=lib{name}.a"], capture_output=True, text=True, check=True).stdout.strip()
    if not os.path.isabs(path):
        sys.exit(f"wheel: lib{name}.a was not found; its package has lib{name}.so only")
    return os.path.realpath(path)


def main():
    build, output = map(os.path.abspath, sys.argv[1:])
    arguments = link_command(build)
    compiler = os.path.join(os.path.dirname(arguments[0]), "clang")
    arguments[arguments.index("-o") + 1] = output
    with tempfile.TemporaryDirectory() as work:
        # A linker takes the first library of a name that it meets in its folders: this folder comes first, and has archives only.
        for name in STATIC:
            path = archive(compiler, name)
            print(path)
            os.symlink(path, os.path.join(work, f"lib{name}.a"))
        old_glibc = os.path.join(work, "old_glibc.o")
        subprocess.run([compiler, "-O2", "-fPIC", "-c", OLD_GLIBC, "-o", old_glibc], check=True)
        wraps = [part for name in WRAPPED for part in ("-Xlinker", f"--wrap={name}")]
        # The linker warns of functions of the Swift runtime, such as mktemp, as it does in `swift build`.
        done = subprocess.run(
            [arguments[0], "-L", work, *arguments[1:], old_glibc, *wraps], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False)
        if done.returncode != 0:
            sys.exit(f"wheel: the command cannot be linked\n{done.stdout}")


main()
