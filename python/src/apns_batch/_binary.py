"""Finds the command that sends."""

from __future__ import annotations

import os
import pathlib
import shutil

from ._errors import ConfigurationError

VARIABLE = "APNS_BATCH"


def find_binary() -> str:
    """Returns the path of `apns-batch`: that of the variable APNS_BATCH, of this package, or of PATH."""
    named = os.environ.get(VARIABLE)
    if named:
        if not os.access(named, os.X_OK):
            raise ConfigurationError(f"{VARIABLE}: {named} is not a program")
        return named
    carried = pathlib.Path(__file__).parent / "bin" / "apns-batch"
    if os.access(carried, os.X_OK):
        return str(carried)
    found = shutil.which("apns-batch")
    if found is None:
        raise ConfigurationError(
            f"apns-batch was not found: install the wheel that carries it, or name it in the variable {VARIABLE}"
        )
    return found
