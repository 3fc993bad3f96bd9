"""The page of the Python package, made of its sources: nothing is imported, so that neither Spark nor Arrow is needed."""

import ast
import html
import os
import re
from dataclasses import dataclass, field

FIELD = re.compile(r"^:(param|raises|returns?)\s*([\w.]*):\s*", re.MULTILINE)
HEAD = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>apns_batch</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 14px/1.5 ui-monospace, monospace; }
pre { background: #8881; padding: .8rem; overflow-x: auto; }
section section { border-top: 1px solid #8884; margin-top: 1.5rem; }
dd { margin-bottom: .4rem; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } a { color: #8cf; } }
</style></head><body><h1>apns_batch</h1>
"""


@dataclass
class Symbol:
    """A public class or function, under the name that a program imports it by."""

    module: str
    name: str
    node: ast.AST
    place: str
    members: list = field(default_factory=list)

    @property
    def title(self):
        return f"{self.module}.{self.name}"


class Package:
    """The sources of a package, by the paths of their files."""

    def __init__(self, root):
        self.root, self.trees = root, {}

    def tree(self, path):
        if path not in self.trees:
            with open(path, encoding="utf-8") as file:
                self.trees[path] = ast.parse(file.read(), path)
        return self.trees[path]

    def find(self, path, name, module):
        """The definition of a name in a file, or in the file from which that imports it."""
        for node in self.tree(path).body:
            if getattr(node, "name", None) == name or name in targets_of(node):
                return Symbol(module, name, node, f"{path}:{node.lineno}")
            if isinstance(node, ast.ImportFrom) and node.level:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return self.find(self.imported(path, node), alias.name, module)
        return None

    def imported(self, path, node):
        folder = os.path.dirname(path)
        for _ in range(node.level - 1):
            folder = os.path.dirname(folder)
        place = os.path.join(folder, *(node.module or "").split("."))
        return place + ".py" if os.path.exists(place + ".py") else os.path.join(place, "__init__.py")


def targets_of(node):
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [node.target.id] if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) else []


def public_symbols(root, module):
    """What `__all__` of a module names, in its order, but for constants without a docstring of their own."""
    package = Package(root)
    path = os.path.join(root, *module.split(".")[1:], "__init__.py")
    tree = package.tree(path)
    names = next(ast.literal_eval(node.value) for node in tree.body if "__all__" in targets_of(node))
    symbols = [package.find(path, name, module) for name in names]
    found = [symbol for symbol in symbols if symbol is not None and isinstance(symbol.node, (ast.ClassDef, ast.FunctionDef))]
    for symbol in found:
        if isinstance(symbol.node, ast.ClassDef):
            symbol.members = list(members_of(symbol))
    return ast.get_docstring(tree), found


def members_of(owner):
    """The public functions of a class, and its fields, each with the text that stands below it."""
    body = owner.node.body
    for node, after in zip(body, [*body[1:], None]):
        is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str)
        names = [node.name] if isinstance(node, ast.FunctionDef) else targets_of(node)
        for name in names:
            if not name.startswith("_"):
                member = Symbol(owner.title, name, node, f"{owner.place.rsplit(':', 1)[0]}:{node.lineno}")
                member.text = after.value.value if is_text else None
                yield member


def docstring(symbol):
    return ast.get_docstring(symbol.node) if isinstance(symbol.node, (ast.ClassDef, ast.FunctionDef)) else getattr(symbol, "text", None)


def breaches(symbols):
    """Public classes and functions without documentation, parameters that it does not describe, and parameters that do not exist."""
    for symbol in symbols:
        text = docstring(symbol)
        if not text:
            yield f"{symbol.place}: {symbol.title} has no documentation"
            continue
        if isinstance(symbol.node, ast.FunctionDef):
            yield from breaches_of_parameters(symbol, text)
        for member in symbol.members:
            if isinstance(member.node, ast.FunctionDef) and not docstring(member):
                yield f"{member.place}: {member.title} has no documentation"


def breaches_of_parameters(symbol, text):
    arguments = symbol.node.args
    actual = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)} - {"self"}
    told = {name for kind, name in FIELD.findall(text) if kind == "param"}
    for name in sorted(told - actual):
        yield f"{symbol.place}: the documentation of {symbol.title} describes a parameter {name} that does not exist"
    if told:
        for name in sorted(actual - told):
            yield f"{symbol.place}: the documentation of {symbol.title} does not describe its parameter {name}"


def signature(symbol):
    node = symbol.node
    if isinstance(node, ast.ClassDef):
        bases = ", ".join(map(ast.unparse, node.bases))
        return f"class {symbol.name}({bases})" if bases else f"class {symbol.name}"
    if not isinstance(node, ast.FunctionDef):
        return ast.unparse(node)
    if any(ast.unparse(decorator) in {"property", "cached_property"} for decorator in node.decorator_list):
        return f"{symbol.name}: {ast.unparse(node.returns)}"
    arguments = ast.unparse(node.args)
    if len(arguments) > 80:
        arguments = "\n    " + re.sub(r", (?=\*|\w+:)", ",\n    ", arguments) + ",\n"
    return f"{symbol.name}({arguments}) -> {ast.unparse(node.returns) if node.returns else 'None'}"


def rendered(text):
    """A docstring as HTML: paragraphs, and the fields of parameters and errors as a list."""
    first = FIELD.search(text)
    paragraphs, fields = (text, "") if first is None else (text[:first.start()], text[first.start():])
    result = "".join(f"<p>{inline(paragraph)}</p>\n" for paragraph in re.split(r"\n\s*\n", paragraphs.strip()))
    pieces = FIELD.split(fields)[1:]
    if pieces:
        entries = zip(pieces[0::3], pieces[1::3], pieces[2::3])
        result += "<dl>" + "".join(
            f"<dt><code>{html.escape(name or kind)}</code>{' is raised' if kind == 'raises' else ''}</dt><dd>{inline(value)}</dd>\n"
            for kind, name, value in entries) + "</dl>\n"
    return result


def inline(text):
    escaped = html.escape(" ".join(text.split()), quote=False)
    return re.sub(r":\w+:`(.*?)`|`+(.*?)`+", lambda found: f"<code>{found[1] or found[2]}</code>", escaped)


def entry(symbol):
    text = docstring(symbol)
    members = "".join(map(entry, symbol.members))
    anchor = html.escape(symbol.title)
    return (f'<section id="{anchor}"><h3><a href="#{anchor}">{html.escape(symbol.name)}</a></h3>\n'
            f"<pre>{html.escape(signature(symbol))}</pre>\n{rendered(text) if text else ''}{members}</section>\n")


def python_page(root, output, modules=("apns_batch", "apns_batch.spark")):
    """Writes the page of the modules into OUTPUT/index.html. Returns the breaches."""
    found, page = [], HEAD
    for module in modules:
        text, symbols = public_symbols(root, module)
        found += breaches(symbols)
        page += f'<section id="{module}"><h2>{module}</h2>\n{rendered(text or "")}' + "".join(map(entry, symbols)) + "</section>\n"
    os.makedirs(output, exist_ok=True)
    with open(os.path.join(output, "index.html"), "w", encoding="utf-8") as file:
        file.write(page + "</body></html>\n")
    return found
