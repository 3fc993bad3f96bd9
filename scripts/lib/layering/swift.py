"""Reads Swift as far as layering needs: code without comments and strings, the types it declares and refers to."""

import re

# Three quotation marks open a text of several lines only at the end of a line.
INTERESTING = re.compile(r'//[^\n]*|/\*|(#*)("""(?=[ \t]*\n)|")|[()]')
TOKEN = re.compile(r"\n|\w+|\.\.[.<]|[^\s\w]")
DECLARING = {"struct", "class", "enum", "protocol", "actor", "typealias", "associatedtype"}
# After `class`, these say that a member of a type is declared, not a type.
MEMBERS = {"func", "var", "let", "subscript", "override", "final"}
MODIFIERS = {"public", "package", "internal", "final", "indirect", "nonisolated", "open", "distributed"}
FILE_PRIVATE = {"private", "fileprivate"}


def blank(text):
    return re.sub(r"[^\n]", " ", text)


def comment_end(text, at):
    """Where the comment ends that begins before `at`; comments nest."""
    depth = 1
    for found in re.compile(r"/\*|\*/").finditer(text, at):
        depth += 1 if found.group(0) == "/*" else -1
        if depth == 0:
            return found.end()
    return len(text)


def skip_string(text, at, hashes, quote, out):
    """Appends a string literal as blanks, its interpolations as code; returns where it ends."""
    ends = r"\n" if quote == '"' else r"(?!)"
    part = re.compile(rf'(?P<end>{quote}{hashes})|\\{hashes}(?P<code>\()|\\{hashes}[^\n]|(?P<cut>{ends})')
    while True:
        found = part.search(text, at)
        if found is None or found.group("cut"):
            raise ValueError(f"a string without an end, in line {text.count(chr(10), 0, at) + 1}")
        out.append(blank(text[at:found.end()]))
        at = found.end()
        if found.group("end"):
            return at
        if found.group("code"):
            out.append(";")
            at = copy_code(text, at, out, True)
            out.append(";")


def copy_code(text, at, out, until_parenthesis):
    """Appends code, comments and strings blanked; returns where it ends."""
    depth = 0
    while True:
        found = INTERESTING.search(text, at)
        if found is None:
            out.append(text[at:])
            return len(text)
        out.append(text[at:found.start()])
        at = found.end()
        piece = found.group(0)
        if piece in "()":
            if piece == ")" and depth == 0 and until_parenthesis:
                return at
            depth += 1 if piece == "(" else -1
            out.append(piece)
        elif piece.startswith("//"):
            out.append(blank(piece))
        elif piece == "/*":
            end = comment_end(text, at)
            out.append(blank(text[found.start():end]))
            at = end
        else:
            out.append(" ")
            at = skip_string(text, at, found.group(1), found.group(2), out)


def code_of(text):
    out = []
    copy_code(text, 0, out, False)
    return "".join(out)


class SwiftFile:
    """What a file declares and refers to.

    declared: names of types at the top level that other files can see. local: those that only this file can see.
    nested: path of a type → names declared directly in it.
    references: (name, line, paths of the types around it), for names that begin with a capital letter.
    """

    def __init__(self, text, module):
        self.declared, self.local, self.nested, self.references = set(), set(), {}, []
        self.module = module
        self.tokens, self.lines = [], []
        line = 1
        for token in TOKEN.findall(code_of(text)):
            if token == "\n":
                line += 1
            else:
                self.tokens.append(token)
                self.lines.append(line)
        self.read()

    def token(self, index):
        return self.tokens[index] if 0 <= index < len(self.tokens) else ""

    def is_declaration(self, index):
        return (
            self.token(index) in DECLARING and self.token(index - 1) != "." and re.match(r"[A-Za-z_]", self.token(index + 1))
            and self.token(index + 1) not in MEMBERS)

    def is_file_private(self, index):
        index -= 1
        while self.token(index) in MODIFIERS:
            index -= 1
        return self.token(index) in FILE_PRIVATE

    def extended_path(self, index):
        path = self.token(index + 1)
        while self.token(index + 2) == ".":
            index += 2
            path += "." + self.token(index + 1)
        return path.removeprefix(self.module + ".")

    def declare(self, index, stack):
        """Notes the type declared here; returns its path."""
        name = self.token(index + 1)
        around = [path for path in stack if path]
        if around:
            self.nested.setdefault(around[-1], set()).add(name)
            return around[-1] + "." + name
        file_private = self.is_file_private(index) or stack
        (self.local if file_private else self.declared).add(name)
        return name

    def read(self):
        # For each open brace the path of the type whose body it opens, or None; and the path that the next brace opens.
        stack, opening = [], None
        for index, token in enumerate(self.tokens):
            if token == "{":
                stack.append(opening)
                opening = None
            elif token == "}":
                if stack:
                    stack.pop()
            elif token == "extension" and self.token(index - 1) != ".":
                opening = self.extended_path(index)
            elif self.is_declaration(index):
                path = self.declare(index, stack)
                opening = None if token in ("typealias", "associatedtype") else path
            elif token[0].isupper() and not self.is_declaration(index - 1) and not self.is_member(index):
                around = [path for path in [*stack, opening] if path]
                self.references.append((token, self.lines[index], around))

    def is_member(self, index):
        return self.token(index - 1) == "." and self.token(index - 2) != self.module
