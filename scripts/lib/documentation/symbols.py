"""Public symbols of the products, as the compiler describes them (symbol graphs)."""

import json
import os
import subprocess

from toolchain import import_flags, target

CATALOGUES = {
    "APNSBatch": "Sources/APNSBatch/APNSBatch.docc",
    "APNSBatchPostgres": "Sources/APNSBatchPostgres/APNSBatchPostgres.docc",
    "APNSSimulator": "Sources/APNSSimulator/APNSSimulator.docc",
}
# Modules whose public symbols belong to a product, because it exports them: those of Sources/APNSBatch/Exports.swift.
EXPORTED = {"APNSBatch": ["APNSBatchModel", "APNSBatchRecords", "APNSBatchRows"]}


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, value):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file)


def extract(module, folder):
    """Writes the symbol graphs of a module into a folder, and returns their paths."""
    os.makedirs(folder)
    exported = EXPORTED.get(module, [])
    subprocess.run(
        ["swift", "symbolgraph-extract", "-module-name", module, *import_flags(), "-target", target(),
         "-minimum-access-level", "public", "-skip-inherited-docs", "-skip-synthesized-members",
         "-emit-extension-block-symbols", f"-experimental-allowed-reexported-modules={','.join(exported)}",
         "-output-dir", folder], check=True)
    for name in os.listdir(folder):
        if "@" in name:
            name_exporter(folder, name)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def name_exporter(folder, name):
    """Says that an extended type is of the module which exports it, the only one that programs import."""
    path, graph = os.path.join(folder, name), read(os.path.join(folder, name))
    module, extended = name.removesuffix(".symbols.json").split("@")
    exporter = next((exporter for exporter, exported in EXPORTED.items() if extended in exported), extended)
    for symbol in graph["symbols"]:
        if "swiftExtension" in symbol:
            symbol["swiftExtension"]["extendedModule"] = exporter
    os.remove(path)
    # docc takes the name of the module from that of the file.
    write(os.path.join(folder, f"{module}@{exporter}.symbols.json"), graph)


def place(symbol):
    location = symbol["location"]
    path = location["uri"].removeprefix("file://")
    return f"{os.path.relpath(path)}:{location['position']['line'] + 1}"


def undocumented(module, files):
    """Breaches: public symbols without documentation. What the compiler has made itself has no place and needs none."""
    for path in files:
        for symbol in read(path)["symbols"]:
            name = ".".join(symbol["pathComponents"])
            if symbol["accessLevel"] not in ("public", "open"):
                yield f"{module}: {name} is {symbol['accessLevel']} and would have a page"
            elif "docComment" not in symbol and "location" in symbol and symbol["kind"]["identifier"] != "swift.extension":
                yield f"{place(symbol)}: {name} has no documentation"
            elif symbol.get("docComment", {}).get("lines", [{"text": ""}])[0]["text"].startswith("- "):
                yield f"{place(symbol)}: the documentation of {name} has no summary"


def unlisted(module, files):
    """Breaches: types and functions that no topic of the landing page has. docc would list them by kind, where they are not found."""
    with open(os.path.join(CATALOGUES[module], f"{module}.md"), encoding="utf-8") as file:
        topics = file.read().partition("\n## Topics\n")[2]
    for path in files:
        for symbol in read(path)["symbols"]:
            parts = symbol["pathComponents"]
            if len(parts) == 1 and "@" not in os.path.basename(path) and f"- ``{parts[0]}``" not in topics:
                yield f"{CATALOGUES[module]}/{module}.md: no topic has ``{parts[0]}``"
