"""Sends one part: a process of the command, which ends with this one."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, Any, cast

from ._errors import SenderInterruptedError
from ._layout import RunLayout
from ._manifest import Manifest, Part

_log = logging.getLogger("apns_batch")

COMPLETE, SOME_ROWS_LEFT, NO_SYSTEM, INTERRUPTED = 0, 2, 71, 75
# How long a part is waited for that another process is sending. Its holder ends, or its lock is freed: by NFS some 90 seconds after its
# machine is gone.
_LOCK_WAIT = "168h"
_TICK_SECONDS = 0.25
_LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "notice": logging.INFO}


@dataclass(frozen=True)
class PartTask:
    """All that a sender needs to know of a part. It holds no secret."""

    run_dir: str
    part: Part
    part_id: str
    flags: tuple[str, ...]
    retries_unavailable: bool = False
    """Whether its run is complete, and the rows of it that ended as unavailable are sent again."""

    def command(self, binary: str) -> list[str]:
        layout, number = RunLayout.of(self.run_dir), self.part.part
        directory = str(layout.part(number))
        if self.retries_unavailable:
            rows = str(layout.root / self.part.input)
            return [binary, "resume", directory, "--retry-unavailable", "--input", rows, *self.flags]
        return [
            *(binary, "run", str(layout.campaign_file), "--run-dir", directory),
            *("--input", str(layout.root / self.part.input), "--format", "ndjson"),
            *("--campaign-id", self.part_id, "--part", "--lock-wait", _LOCK_WAIT, *self.flags),
        ]


@dataclass(frozen=True)
class PartMessage:
    """How a part ended: what a task returns of it."""

    part: int
    summary: dict[str, Any] | None
    """The content of its summary.json; None if it was not begun."""
    exit_code: int
    """0 or 2 if it is complete, 75 if it was not begun or stopped."""
    cause: str = ""

    @property
    def is_complete(self) -> bool:
        return self.exit_code in (COMPLETE, SOME_ROWS_LEFT)

    @property
    def has_stopped_all(self) -> bool:
        """Whether it met something that sending again would not mend."""
        return not self.is_complete and self.exit_code != INTERRUPTED


def send_part(
    binary: str, task: PartTask, is_over: Callable[[], bool], more_flags: Sequence[str], claim: int
) -> PartMessage:
    """Sends a part, resumes it, or waits until another process has sent it.

    Whoever calls this for the same part, and how often, gets the same message, and every row is sent by one of them.

    - `claim` is the descriptor of a locked file. The lock is held for as long as the process lives, also when this one is killed.
    - `is_over` is asked four times a second, and ends the sender when it returns true.
    - Raises SenderInterruptedError if the sender ended early in a way that a further attempt mends.
    """
    layout, number = RunLayout.of(task.run_dir), task.part.part
    if layout.stop.exists():
        return stopped(number)
    process = _Sender([*task.command(binary), *more_flags], number, claim)
    exit_code = process.wait(lambda: layout.stop.exists() or is_over())
    summary = process.summary()
    cause = process.last_error or f"apns-batch ended with {exit_code}"
    if exit_code in (COMPLETE, SOME_ROWS_LEFT):
        return PartMessage(number, summary, exit_code)
    # While it waits for the lock, a sender ends by the signal itself.
    if layout.stop.exists() and (exit_code == INTERRUPTED or exit_code < 0):
        return stopped(number, summary)
    if exit_code in (INTERRUPTED, NO_SYSTEM) or exit_code < 0:
        raise SenderInterruptedError(f"part {number}: {cause}")
    stop_all(layout, number, exit_code, cause)
    return PartMessage(number, summary, exit_code, cause)


def stopped(part: int, summary: dict[str, Any] | None = None) -> PartMessage:
    return PartMessage(part, summary, INTERRUPTED, "all senders were stopped")


def earlier_messages(layout: RunLayout, manifest: Manifest) -> list[PartMessage]:
    """What the parts say of themselves that a process has ended in order: the content of their summaries."""
    messages: list[PartMessage] = []
    for part in manifest.parts:
        # One that is no summary says nothing: its part is asked again.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            summary = json.loads((layout.part(part.part) / "summary.json").read_text(encoding="utf-8"))
            messages.append(PartMessage(part.part, summary, int(summary["exit_code"])))
    return messages


def stop_all(layout: RunLayout, part: int, exit_code: int, cause: str) -> None:
    """Tells all senders to stop. The first one's cause is kept."""
    text = json.dumps({"part": part, "exit_code": exit_code, "cause": cause})
    # A machine that has lost the directory stops nobody.
    with contextlib.suppress(OSError), open(layout.stop, "x", encoding="utf-8") as file:
        file.write(text + "\n")


class _Sender:
    """A running process of the command.

    It holds one end of a pipe, the leash. When this process ends, whatever ends it, the kernel closes the other one: the sender then takes
    no more rows, waits two seconds for answers, and ends.
    """

    def __init__(self, command: Sequence[str], part: int, claim: int) -> None:
        leash, self._leash = os.pipe()
        common = [
            "--leash",
            str(leash),
            "--report",
            "none",
            "--json",
            "--log-format",
            "json",
            "--no-progress",
        ]
        try:
            # A session of its own: a signal for the group of this process is not one for the sender.
            self._process = subprocess.Popen(
                [*command, *common],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(leash, claim),
                start_new_session=True,
            )
        except OSError:
            os.close(self._leash)
            raise
        finally:
            os.close(leash)
        self.last_error = ""
        self._output = b""
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._readers = [
            threading.Thread(target=self._read_output, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_log, args=(self._process.stderr, part), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def wait(self, is_over: Callable[[], bool]) -> int:
        """Returns the exit code of the sender; that of a signal is negative. Ends it first if an exception comes."""
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    return self._process.wait(_TICK_SECONDS)
                if self._leash >= 0 and is_over():
                    self._let_go()
        finally:
            self._let_go()
            self._process.wait()
            for reader in self._readers:
                reader.join()

    def _let_go(self) -> None:
        if self._leash >= 0:
            os.close(self._leash)
            self._leash = -1

    def summary(self) -> dict[str, Any] | None:
        with contextlib.suppress(ValueError):
            found: object = json.loads(self._output)
            return cast("dict[str, Any]", found) if isinstance(found, dict) else None
        return None

    def _read_output(self, pipe: IO[bytes]) -> None:
        self._output = pipe.read()

    def _read_log(self, pipe: IO[bytes], part: int) -> None:
        for line in pipe:
            level, message = _parsed(line)
            if level >= logging.ERROR:
                self.last_error = message
            _log.log(level, "part %d: %s", part, message)


def _parsed(line: bytes) -> tuple[int, str]:
    with contextlib.suppress(ValueError, KeyError, TypeError):
        entry = json.loads(line)
        return _LEVELS.get(entry["level"], logging.DEBUG), str(entry["message"])
    return logging.WARNING, line.decode("utf-8", "replace").rstrip()


class ParentWatch:
    """Notices that the parent of this process has ended, as the driver of a killed executor does."""

    def __init__(self) -> None:
        self._parent = os.getppid()

    def __call__(self) -> bool:
        return os.getppid() != self._parent
