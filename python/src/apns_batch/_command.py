"""The command that sends: where it is, and what it says."""

from __future__ import annotations

import errno
import os
import pathlib
import shutil
import subprocess

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


def ask(command: list[str], directory: pathlib.Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command to its end, without input.

    :param directory: Where it runs; None for that of this program.
    :raises ConfigurationError: It cannot be started.
    """
    try:
        return subprocess.run(
            command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=directory
        )
    except OSError as error:
        long = ": a column or a setting is too long" if error.errno == errno.E2BIG else ""
        raise ConfigurationError(
            f"{command[0]} {command[1]}: it cannot be started ({error.strerror}){long}"
        ) from error


def demand(command: list[str]) -> str:
    """Runs the command, and returns what it prints. Raises ConfigurationError with its message if it fails."""
    done = ask(command)
    if done.returncode != 0:
        raise ConfigurationError(said_wrong(done.stderr) or f"{command[1]} ended with {done.returncode}")
    return done.stdout


def said_wrong(stderr: str) -> str:
    """The message of the command in what it wrote to standard error."""
    lines = [line.partition("apns-batch: ")[2] or line for line in stderr.splitlines() if line.strip()]
    return "\n".join(line for line in lines if not line.startswith("warning: "))
