"""What can go wrong before and while a run in parts is sent."""

from __future__ import annotations


class ApnsBatchError(Exception):
    """The base of all errors of this package."""


class ConfigurationError(ApnsBatchError):
    """The campaign, the rows or an argument are wrong. Nothing was sent because of this call."""


class StorageError(ApnsBatchError):
    """The run directory does not offer what the protocol asks for, such as locks that exclude."""


class RunBusyError(ApnsBatchError):
    """Another program is sending this run."""


class SenderInterruptedError(ApnsBatchError):
    """A sender ended before its part was complete, and can go on. A task that raises it is tried again."""


class DriverGoneError(ApnsBatchError):
    """The program that started this task has ended, so that the task must not send."""


class SendingStoppedError(ApnsBatchError):
    """A sender met something that sending again would not mend, and all senders were stopped.

    The rows that are left are sent by a second start with the same run directory, when the cause is mended.
    """

    def __init__(self, part: int, exit_code: int, cause: str) -> None:
        super().__init__(f"part {part}: {cause} (exit code {exit_code}); all senders were stopped")
        self.part = part
        self.exit_code = exit_code
        self.cause = cause
