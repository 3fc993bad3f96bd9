"""The files of a run in parts."""

from __future__ import annotations

import os
import pathlib
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from ._errors import ConfigurationError

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


@dataclass(frozen=True)
class RunLayout:
    """The paths in a run directory, which the driver and all executors see under the same name."""

    root: pathlib.Path

    @staticmethod
    def of(run_dir: str | os.PathLike[str]) -> RunLayout:
        """Raises ConfigurationError if this is no path of a directory, but a URL or a pattern."""
        path = os.fspath(run_dir)
        if _URL.match(path):
            raise ConfigurationError(
                f"run_dir: {path}: a directory that all machines mount is expected, such as /mnt/shared/tonight,"
                " and no URL; rows and results may lie in an object store"
            )
        if "{" in path or "}" in path:
            raise ConfigurationError(
                f"run_dir: {path}: this is a pattern, and no directory: {{date}} and {{campaign}} are replaced when a run is"
                " sent. Name the directory that the run has got: run.run_dir of what sent it"
            )
        return RunLayout(pathlib.Path(os.path.abspath(path)))

    @property
    def lock(self) -> pathlib.Path:
        """Locked by the program that sends the run, for as long as it does."""
        return self.root / "lock"

    @property
    def manifest(self) -> pathlib.Path:
        """The parts and the identity of the run. It is written once, when the rows are frozen, and complete: without it, they are not."""
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

    def input_of(self, number: int) -> pathlib.Path:
        """The frozen rows of a part."""
        return self.input / f"part-{number:05}.json"

    def new_attempt(self) -> pathlib.Path:
        """A file for rows that are being frozen, which no other attempt has."""
        return self.input / f".attempt-{uuid.uuid4().hex}"

    @property
    def shared(self) -> pathlib.Path:
        """Files by which driver and tasks prove to each other that they see the same directory."""
        return self.root / ".shared"

    @property
    def claims(self) -> pathlib.Path:
        """Files whose locks say which sender has which part."""
        return self.root / ".claims"

    @property
    def seats(self) -> pathlib.Path:
        """Files whose locks say how many senders are at work."""
        return self.root / ".seats"

    @property
    def control(self) -> pathlib.Path:
        """What all senders are asked to do: to pause, or to keep another rate."""
        return self.root / "control"

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

    def has_begun(self, number: int) -> bool:
        """Whether rows of a part may have been sent."""
        return (self.part(number) / "ledger").exists()


def write_whole(path: pathlib.Path, text: str, mode: int = 0o644) -> None:
    """Replaces a file as a whole: readers see the old text or the new one."""
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
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
