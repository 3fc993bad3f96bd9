"""Code blocks of documents and docstrings, each compiled as it stands."""

import concurrent.futures
import os
import re
import subprocess
from dataclasses import dataclass

from toolchain import import_flags, target

from .symbols import place, read

PRELUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prelude.swift")


@dataclass
class Fragment:
    """A code block: the file and line of its first line, and its text."""

    file: str
    line: int
    text: str


def fragments_in_lines(lines, file, first=1):
    found, start, block = [], None, []
    for number, line in enumerate(lines, first):
        if start is None and line.strip() == "```swift":
            start, block = number + 1, []
        elif start is not None and line.strip() == "```":
            found.append(Fragment(file, start, "\n".join(block)))
            start = None
        elif start is not None:
            block.append(line)
    return found


def fragments_in_markdown(path, has_code=False):
    """The blocks of a document, which must have one if `has_code` is set."""
    with open(path, encoding="utf-8") as file:
        found = fragments_in_lines(file.read().split("\n"), path)
    if has_code and not found:
        raise SystemExit(f"docs: {path} has no Swift code")
    return found


def fragments_of_tutorials(catalogue):
    """The programs that the steps of tutorials show, each of which is a file."""
    found = []
    folder = os.path.join(catalogue, "Resources")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name.endswith(".swift"):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                found.append(Fragment(path, 1, file.read()))
    return found


def fragments_in_symbols(files):
    """The blocks of the docstrings of public symbols."""
    found = []
    for path in files:
        for symbol in read(path)["symbols"]:
            lines = symbol.get("docComment", {}).get("lines", [])
            texts = [line["text"] for line in lines]
            if "```swift" in (text.strip() for text in texts):
                file = place(symbol).rsplit(":", 1)[0]
                first = lines[0].get("range", {}).get("start", {}).get("line", 0) + 1
                found += fragments_in_lines(texts, file, first)
    return found


def compile_prelude(work):
    flags = ["-swift-version", "6", "-target", target(), *import_flags(), "-I", work]
    subprocess.run(
        ["swiftc", "-emit-module", "-module-name", "Prelude", "-emit-module-path", os.path.join(work, "Prelude.swiftmodule"),
         "-parse-as-library", *flags, PRELUDE], check=True)
    return flags


def plugins():
    swiftc = os.path.realpath(subprocess.run(["which", "swiftc"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip())
    return os.path.join(os.path.dirname(swiftc), "..", "lib", "swift", "host", "plugins", "testing")


def breaches_of_fragment(fragment, number, flags, work):
    """What the compiler says of a block. It stands in a file of its own, after imports and before nothing."""
    folder = os.path.join(work, f"fragment-{number}")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "main.swift")
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            "import APNSBatch\nimport APNSBatchPostgres\nimport APNSSimulator\nimport Logging\nimport Prelude\nimport ServiceLifecycle\nimport Testing\n"
            f"#sourceLocation(file: \"{fragment.file}\", line: {fragment.line})\n{fragment.text}\n")
    done = subprocess.run(
        ["swiftc", "-typecheck", *flags, "-plugin-path", plugins(), path],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0:
        return []
    found = re.findall(r"^\S+:\d+:\d+: error: .*$", done.stdout, re.MULTILINE)
    return list(dict.fromkeys(found)) or [f"{fragment.file}:{fragment.line}: {done.stdout}"]


def breaches_of_fragments(fragments, work):
    flags = compile_prelude(work)
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = [pool.submit(breaches_of_fragment, fragment, number, flags, work) for number, fragment in enumerate(fragments)]
        return [breach for job in jobs for breach in job.result()]
