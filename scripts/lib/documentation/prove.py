"""Plants one fault of each kind in copies of what the pages are made of, and asks whether it is found."""

import os
import re
import shutil

from .fragments import breaches_of_fragments, fragments_in_markdown
from .links import breaches_of_links
from .pages import convert
from .python_page import python_page
from .snippets import snippet_graph
from .symbols import CATALOGUES, read, undocumented, unlisted, write

LIBRARY = "docs/integrate/library.md"


def copy_with(path, folder, old, new):
    """A copy of a file in which a text is replaced."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if old not in text:
        raise SystemExit(f"docs: {path} does not have what is to be changed for the proof: {old}")
    target = os.path.join(folder, os.path.basename(path))
    os.makedirs(folder, exist_ok=True)
    with open(target, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new, 1))
    return target


def faults_of_pages(graphs, work):
    """Of a catalogue with a link that leads nowhere, a snippet that does not exist, and a docstring with a wrong link."""
    module = "APNSSimulator"
    folder = os.path.join(work, "planted.docc")
    shutil.copytree(CATALOGUES[module], folder)
    with open(os.path.join(folder, f"{module}.md"), "a", encoding="utf-8") as file:
        file.write("\n### Planted\n\n- ``Simulator/plantedInTopics``\n- <doc:PlantedInTopics>\n")
    with open(os.path.join(folder, "Article.md"), "w", encoding="utf-8") as file:
        file.write('# Article\n\nA text, and <doc:PlantedInText>.\n\n@Snippet(path: "apns-batch/Snippets/Planted")\n')
    graph = read(graphs[module][0])
    symbol = next(symbol for symbol in graph["symbols"] if symbol["pathComponents"] == ["Simulator"])
    symbol["docComment"]["lines"].append({"text": "See ``plantedInDocstring``."})
    path = os.path.join(work, "planted", os.path.basename(graphs[module][0]))
    os.makedirs(os.path.dirname(path))
    write(path, graph)
    snippets = snippet_graph("Snippets", os.path.join(work, "planted-snippets"))
    return convert(module, [path], snippets, os.path.join(work, "planted-pages"), catalogue=folder)


def faults_of_symbols(graphs, work):
    graph = read(graphs["APNSBatch"][0])
    del next(symbol for symbol in graph["symbols"] if symbol["pathComponents"] == ["Sender", "run()"])["docComment"]
    next(symbol for symbol in graph["symbols"] if symbol["pathComponents"] == ["Outcome"])["accessLevel"] = "package"
    lines = next(symbol for symbol in graph["symbols"] if symbol["pathComponents"] == ["Arrival"])["docComment"]["lines"]
    lines[0]["text"] = "- Parameter planted: Nothing."
    path = os.path.join(work, "planted-symbols.json")
    write(path, graph)
    next(symbol for symbol in graph["symbols"] if symbol["pathComponents"] == ["Sender"])["pathComponents"] = ["Planted"]
    write(path, graph)
    return list(undocumented("APNSBatch", [path])) + list(unlisted("APNSBatch", [path]))


def faults_of_fragments(work):
    planted = [
        copy_with(LIBRARY, os.path.join(work, "library-1"), "makeResults()", "makePlanted()"),
        copy_with(LIBRARY, os.path.join(work, "library-2"), "try await sender.send(", "await sender.send("),
    ]
    fragments = [fragment for path in planted for fragment in fragments_in_markdown(path)]
    return breaches_of_fragments(fragments, work)


def faults_of_documents(work):
    """Of a document with a link to a file and one to a heading that do not exist, and one in code, which is none."""
    path = os.path.join(work, "planted.md")
    with open(path, "w", encoding="utf-8") as file:
        file.write("# Heading\n\n[a](planted-file.md), [b](#planted-heading), [c](#heading)\n\n    [d](planted-code.md)\n")
    return list(breaches_of_links([path]))


def faults_of_python(work):
    """Of a package whose functions have no documentation, that of another parameter, and none of one that they have."""
    package = os.path.join(work, "planted_package")
    os.makedirs(os.path.join(package, "spark"))
    for folder in (package, os.path.join(package, "spark")):
        with open(os.path.join(folder, "__init__.py"), "w", encoding="utf-8") as file:
            file.write('__all__ = ["f", "g"]\ndef f(): pass\ndef g(a):\n    """Text.\n\n    :param b: Planted.\n    """\n')
    return python_page(package, os.path.join(work, "planted-python"))


def prove(graphs, work):
    found = [
        *faults_of_pages(graphs, work), *faults_of_symbols(graphs, work), *faults_of_fragments(work), *faults_of_documents(work),
        *faults_of_python(work)]
    expected = {
        "a link to a symbol that does not exist": "'plantedInTopics' doesn't exist",
        "a link to an article that does not exist": "'PlantedInText' doesn't exist",
        "a snippet that does not exist": "Snippet named 'Planted'",
        "a wrong link in a docstring": "plantedInDocstring",
        "a public symbol without documentation": "Sender.run.. has no documentation",
        "documentation without a summary": "documentation of Arrival has no summary",
        "a public type that no topic of the landing page has": "no topic has ``Planted``",
        "a symbol that is not public": "Outcome is package",
        "a call in docs/integrate/library.md that does not exist": "no member 'makePlanted'",
        "code in docs/integrate/library.md that does not compile": "not marked with 'try'",
        "a link of a document to a file that does not exist": "leads nowhere: planted-file.md",
        "a link of a document to a heading that does not exist": "no heading for #planted-heading",
        "a function of Python without documentation": "apns_batch.f has no documentation",
        "a parameter in Python's documentation that does not exist": "describes a parameter b that does not exist",
        "a parameter without documentation in Python": "does not describe its parameter a",
    }
    return judge(found, expected)


def judge(found, expected):
    failed = False
    for what, pattern in expected.items():
        hit = next((breach for breach in found if re.search(pattern, breach)), None)
        print(f"{'found' if hit else 'NOT FOUND'}: {what}{': ' + hit if hit else ''}")
        failed = failed or hit is None
    return not failed
