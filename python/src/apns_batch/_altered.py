"""Fields that the command alters in its CSV files, so that no spreadsheet takes them for formulas and no terminal obeys them.

docs/reference/results-csv.md in the sources, "Altered fields", has the rules.
"""

from __future__ import annotations

import re

#: Matches the start of an altered field; a regular expression for Python and for Java. A field that is not altered never matches.
ALTERED = r"^'(?:[=+\-@'\uff1d\uff0b\uff0d\uff20]|[^\\]*\\)"

_altered = re.compile(ALTERED)
_escape = re.compile(r"\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|(.))")
_kinds = {"n": "\n", "r": "\r", "t": "\t"}


def plain(field: str) -> str:
    """Returns what a field was before it was altered; a field that was not altered as it is."""
    if not field.startswith("'") or not _altered.match(field):
        return field
    return _escape.sub(_plain_character, field[1:])


def _plain_character(escape: re.Match[str]) -> str:
    scalar, byte, kind = escape.groups()
    if scalar:
        return chr(int(scalar, 16))
    if byte:
        # A byte that is no part of a character: as the error handler "surrogateescape" reads it.
        return chr(0xDC00 + int(byte, 16))
    return _kinds.get(kind, kind)
