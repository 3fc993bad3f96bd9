"""The files of a run in parts."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class RunLayout:
    """The paths in a run directory, which the driver and all executors see under the same name."""

    root: pathlib.Path

    @staticmethod
    def of(run_dir: str | os.PathLike[str]) -> RunLayout:
        return RunLayout(pathlib.Path(os.path.abspath(run_dir)))

    @property
    def lock(self) -> pathlib.Path:
        """Locked by the program that sends the run, for as long as it does."""
        return self.root / "lock"

    @property
    def manifest(self) -> pathlib.Path:
        """The parts and the identity of the run. It is written once, when the rows are frozen."""
        return self.root / "manifest.json"

    @property
    def campaign(self) -> pathlib.Path:
        """The copy of the campaign that all parts are sent with."""
        return self.root / "campaign"

    @property
    def campaign_file(self) -> pathlib.Path:
        return self.campaign / "campaign.yaml"

    @property
    def input(self) -> pathlib.Path:
        """The frozen rows."""
        return self.root / "input"

    @property
    def input_is_frozen(self) -> pathlib.Path:
        """Exists when the rows are complete, and do not change any more."""
        return self.input / "_SUCCESS"

    @property
    def stop(self) -> pathlib.Path:
        """Exists when all senders have to stop; says why."""
        return self.root / "stop"

    @property
    def provider_token(self) -> pathlib.Path:
        """The provider token of the hour, which only the owner can read."""
        return self.root / "token"

    @property
    def summary(self) -> pathlib.Path:
        """The sums of all parts, written at the end of each start."""
        return self.root / "summary.json"

    @property
    def complete(self) -> pathlib.Path:
        """Exists when every row of every part has an outcome."""
        return self.root / "_COMPLETE"

    @property
    def parts(self) -> pathlib.Path:
        return self.root / "parts"

    def part(self, number: int) -> pathlib.Path:
        """The run directory of a part."""
        return self.parts / f"{number:05}"


def write_whole(path: pathlib.Path, text: str, mode: int = 0o644) -> None:
    """Replaces a file as a whole: readers see the old text or the new one."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def files_below(directory: pathlib.Path) -> Iterator[pathlib.Path]:
    """All files below a directory, in an order that does not depend on the file system."""
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            yield path
