"""Judges the frozen rows by their first ones, once for the whole run. A part is not judged by its own."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence

from ._command import ask, said_wrong
from ._errors import ConfigurationError
from ._layout import RunLayout
from ._manifest import Part

_USAGE = 64
_ALL = "part-*.json"


def judge_frozen(binary: str, layout: RunLayout, parts: Sequence[Part]) -> None:
    """Compares the rows with what the campaign reads of them, which the names of columns do not say: paths within values.

    :raises ConfigurationError: None of the first rows has what the campaign names: of all parts as one input, and of any part.
    """
    fault = _fault(binary, layout, _ALL) if parts else None
    if fault is None:
        return
    # What is rare may be among the first rows of one part only.
    files = (pathlib.PurePath(part.input).name for part in parts)
    if len(parts) == 1 or all(_fault(binary, layout, file) is not None for file in files):
        raise ConfigurationError(f"{fault}; nothing was sent")


def _fault(binary: str, layout: RunLayout, files: str) -> str | None:
    """What is wrong with files of the input directory as the input of the campaign; None if nothing is."""
    # Named from within the directory, whose own path may have the characters of patterns.
    done = ask(
        [
            *(binary, "render", str(layout.campaign_file), "--input", files, "--format", "ndjson"),
            *("--rows", "1", "--json"),
        ],
        layout.input,
    )
    return said_wrong(done.stderr).replace(f"{files}:", "rows:") if done.returncode == _USAGE else None
