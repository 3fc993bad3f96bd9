"""An operator of Airflow 3 for a program that sends a run, whose exit codes are those of apns-batch (docs/reference/exit-codes.md)."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException


class Ending(Enum):
    """What Airflow does about an exit code."""

    SUCCESS = "success"
    FAIL = "failed at once: a retry would end the same way"
    RETRY = "up for retry: a retry goes on where the run ended"
    SKIP = "skipped: there was nothing to send"


ENDINGS = {
    0: Ending.SUCCESS,
    2: Ending.FAIL,
    64: Ending.FAIL,
    69: Ending.RETRY,
    71: Ending.RETRY,
    75: Ending.RETRY,
    126: Ending.FAIL,
    127: Ending.FAIL,
}
"""All other codes, and signals, which are negative, are RETRY: a run that was killed goes on."""

STOP_SECONDS = 60.0


class ApnsBatchOperator(BaseOperator):
    """Runs a command such as `apns-batch run`, and returns the last line of its output, `rows=… accepted=…`, as a mapping.

    The command must go on with the same run when it is called again: its run directory is the same in each try, and another one each night.

    :param command: The program and its arguments, which are templates: `--run-dir`, `/var/lib/push/{{ ds }}`.
    :param environment: The environment of the command; None for that of the worker.
    :param skip_empty: Whether a run whose input has no rows skips the task. Otherwise it fails.
    """

    template_fields: Collection[str] = ("command",)

    def __init__(
        self,
        *,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        skip_empty: bool = False,
        **others: Any,
    ) -> None:
        # Airflow's own types leave some open.
        super().__init__(**others)  # pyright: ignore[reportUnknownMemberType]
        self.command = command
        self.environment = environment
        self.skip_empty = skip_empty
        self._process: subprocess.Popen[str] | None = None

    def execute(self, context: Context) -> dict[str, str]:
        """Runs the command to its end.

        :raises AirflowFailException: A person must act.
        :raises AirflowSkipException: The input has no rows.
        :raises AirflowException: A further try goes on.
        """
        del context
        code, last = self._run()
        said = values_of(last)
        match ending_of(code, said, self.skip_empty):
            case Ending.SUCCESS:
                return said
            case Ending.SKIP:
                raise AirflowSkipException("the input has no rows")
            case Ending.FAIL:
                raise AirflowFailException(f"exit code {code}: {last}")
            case Ending.RETRY:
                raise AirflowException(f"exit code {code}; a retry goes on with the run: {last}")

    def on_kill(self) -> None:
        """Ends the command in order: what was handed to APNs gets its answers, and the rest is left for the next try."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()

    def _run(self) -> tuple[int, str]:
        """Returns the exit code of the command, and the last line of what it wrote, all of which goes to the log of the task."""
        last = ""
        self._process = subprocess.Popen(
            list(self.command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=None if self.environment is None else dict(self.environment),
        )
        try:
            assert self._process.stdout is not None
            for line in self._process.stdout:
                last = line.rstrip() or last
                self.log.info("%s", line.rstrip())
            return self._process.wait(), last
        finally:
            # Also when a time limit of the task has raised an error here.
            self.on_kill()


def ending_of(code: int, said: Mapping[str, str], skip_empty: bool) -> Ending:
    if code == 2 and skip_empty and said.get("rows") == "0":
        return Ending.SKIP
    return ENDINGS.get(code, Ending.RETRY)


def values_of(line: str) -> dict[str, str]:
    """The values of a line such as `rows=3 accepted=3`, by their names."""
    pairs = (word.partition("=") for word in line.split())
    return {name: value for name, separator, value in pairs if separator}
