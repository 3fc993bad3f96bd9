"""Pages of a catalogue, made by docc."""

import os
import re
import shutil
import subprocess

from .symbols import CATALOGUES


def convert(module, graphs, snippets, output, catalogue=None):
    """Makes the pages of a module, of its catalogue or of another one. Breaches: what docc warns of."""
    staged = output + ".graphs"
    shutil.rmtree(staged, ignore_errors=True)
    os.makedirs(staged)
    for path in [*graphs, snippets]:
        shutil.copy(path, staged)
    shutil.rmtree(output, ignore_errors=True)
    done = subprocess.run(
        ["docc", "convert", catalogue or CATALOGUES[module], "--additional-symbol-graph-dir", staged, "--output-path", output,
         "--fallback-display-name", module, "--fallback-bundle-identifier", f"apns-batch.{module}",
         "--fallback-default-module-kind", "Library", "--warnings-as-errors",
         "--hosting-base-path", module, "--ide-console-output"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    shutil.rmtree(staged)
    found = re.findall(r"^.*(?:warning|error): .*$", done.stdout, re.MULTILINE)
    if done.returncode != 0 and not found:
        return [done.stdout]
    return [line.removeprefix(os.getcwd() + "/") for line in dict.fromkeys(found)]
