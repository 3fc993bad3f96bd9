"""The public API of the products' modules, as swift-api-digester writes it."""

import gzip
import json
import os
import re
import subprocess
import sys

from toolchain import import_flags, target

# The products, and the modules whose public symbols APNSBatch exports (Sources/APNSBatch/Exports.swift).
MODULES = ["APNSBatch", "APNSBatchModel", "APNSBatchRecords", "APNSBatchRows", "APNSSimulator"]


def compiler():
    said = subprocess.run(["swift", "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    found = re.search(r"Swift version (\S+)", said.stdout)
    return found.group(1) if found else "unknown"


def without_internals(node):
    """A node without what is not public: `package` symbols come and go, and are nobody's API."""
    if "children" in node:
        node["children"] = [without_internals(child) for child in node["children"] if not child.get("isInternal")]
    return node


def dump(module, path):
    """Writes the public API of a module that `swift build` has made in the current folder."""
    done = subprocess.run(
        ["swift-api-digester", "-dump-sdk", "-module", module, *import_flags(), "-target", target(), "-avoid-location",
         "-avoid-tool-args", "-o", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0 or not os.path.exists(path):
        sys.exit(f"the API of {module} cannot be read: {done.stdout}")
    with open(path, encoding="utf-8") as file:
        tree = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"ABIRoot": without_internals(tree["ABIRoot"])}, file, separators=(",", ":"), sort_keys=True)


def dump_all(folder):
    os.makedirs(folder, exist_ok=True)
    for module in MODULES:
        dump(module, os.path.join(folder, f"{module}.json"))


def pack(folder, target_folder):
    """Compresses dumps, without a time or a name, so that equal APIs are equal files."""
    for module in MODULES:
        with open(os.path.join(folder, f"{module}.json"), "rb") as file:
            packed = gzip.compress(file.read(), mtime=0)
        with open(os.path.join(target_folder, f"{module}.json.gz"), "wb") as file:
            file.write(packed)


def unpack(source_folder, folder):
    os.makedirs(folder, exist_ok=True)
    for module in MODULES:
        with gzip.open(os.path.join(source_folder, f"{module}.json.gz")) as packed:
            text = packed.read()
        with open(os.path.join(folder, f"{module}.json"), "wb") as file:
            file.write(text)


def open_enums(folder, module):
    """The names of `@nonexhaustive` enums, over which programs switch with a default: a new case breaks none."""
    found = set()

    def walk(node, path):
        if node.get("kind") == "TypeDecl":
            path = [*path, node["name"]]
            if "Nonexhaustive" in node.get("declAttributes", []):
                found.add(".".join(path))
        for child in node.get("children", []):
            walk(child, path)

    with open(os.path.join(folder, f"{module}.json"), encoding="utf-8") as file:
        walk(json.load(file)["ABIRoot"], [])
    return found


def breaks(old, new):
    """What a program that was compiled with the API of a folder would miss in another one, as (module, sentence)."""
    for module in MODULES:
        done = subprocess.run(
            ["swift-api-digester", "-diagnose-sdk", "-input-paths", os.path.join(old, f"{module}.json"),
             "-input-paths", os.path.join(new, f"{module}.json"), "-compiler-style-diags"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        sentences = re.findall(r"API breakage: (.*?)\s*$", done.stdout, re.MULTILINE)
        if done.returncode != 0 and not sentences:
            sys.exit(f"the API of {module} cannot be compared: {done.stdout}")
        open_ones = open_enums(old, module)
        for sentence in dict.fromkeys(sentences):
            case = re.fullmatch(r"enumelement (.+)\.\w+(?:\(.*\))? has been added as a new enum case", sentence)
            if not (case and case.group(1) in open_ones):
                yield module, sentence
