"""Where a run is: resolved once, by its first start, and found again by every later one."""

from __future__ import annotations

import json
import logging
import os
import pathlib
import re
from dataclasses import dataclass

from ._campaign import Campaign, CopiedCampaign
from ._errors import ConfigurationError
from ._layout import RunLayout
from ._manifest import Manifest
from ._storage import is_locked

_log = logging.getLogger("apns_batch")

DATE = "{date}"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True)
class Place:
    """The directory of a run, and the pattern that it was made from."""

    layout: RunLayout
    pattern: str | None = None
    """Absolute, with {date}; None if the path is the same each night."""

    @staticmethod
    def of(run_dir: str | os.PathLike[str] | None, campaign: Campaign, copied: CopiedCampaign) -> Place:
        """The place that a caller names, or the campaign: the command replaces {date} and {campaign}, by its rules and its night."""
        given = None if run_dir is None else os.fspath(run_dir)
        if given is not None and "{" not in given:
            return Place(RunLayout.of(given))
        if copied.run_dir is None:
            raise ConfigurationError(
                "run_dir: name the run directory, here or in the campaign"
                if given is None
                else f"run_dir: {given}: this version of apns-batch replaces no braces; name the directory itself"
            )
        layout = RunLayout.of(copied.run_dir)
        named = _pattern_of(campaign) if given is None else given
        if DATE not in named or copied.night is None:
            return Place(layout)
        # Of the same name in every night: a name of the campaign may hold a date, too.
        return Place(layout, str(layout.root).replace(copied.night, DATE))

    def nights(self) -> list[RunLayout]:
        """The directories of other nights that were made from the same pattern, the oldest first."""
        if self.pattern is None:
            return []
        before, _, after = self.pattern.partition(DATE)
        above = pathlib.Path(before).parent if not before.endswith("/") else pathlib.Path(before)
        if not above.is_dir():
            return []
        dates = {date for path in above.iterdir() for date in _DATE.findall(path.name)}
        layouts = [RunLayout.of(before + date + after.replace(DATE, date)) for date in sorted(dates)]
        return [layout for layout in layouts if layout.root.is_dir() and layout != self.layout]

    def same_runs(self, name: str, run_key: str | None) -> list[RunLayout]:
        """The runs of other nights that were begun from this pattern by the same calls, the oldest first.

        They are those whose rows were sent in part, and those that a program is at work on. With a key, they are also those that are
        complete: without one, the next night's call is the same. Of a run of which nothing was sent, nothing has to be continued.
        """
        return [layout for layout in self.nights() if _may_be_same(layout, name, run_key)]


def _pattern_of(campaign: Campaign) -> str:
    """The run directory of a campaign as it is written there, or the text around it."""
    setting = campaign.settings.get("run_dir")
    return str(setting) if setting is not None else pathlib.Path(campaign.path).read_text(encoding="utf-8")


def _may_be_same(layout: RunLayout, name: str, run_key: str | None) -> bool:
    """A run that cannot be read is none that could be continued, and holds up no other night."""
    try:
        return _is_same(layout, name, run_key)
    except (ConfigurationError, OSError, ValueError) as error:
        _log.warning(
            "%s: this directory of another night cannot be read, and is left as it is: %s", layout.root, error
        )
        return False


def _is_same(layout: RunLayout, name: str, run_key: str | None) -> bool:
    if not layout.manifest.exists():
        # A program that freezes rows says whose they are.
        return is_locked(layout.lock) and layout.lock.read_text(encoding="utf-8") == lock_text(name, run_key)
    manifest = Manifest.read(layout)
    if (manifest.name, manifest.settled.run_key) != (name, run_key):
        return False
    if layout.complete.exists():
        return run_key is not None
    return any(layout.has_begun(part.part) for part in manifest.parts) or is_locked(layout.lock)


def lock_text(name: str, run_key: str | None) -> str:
    """What is in the lock of a run: which of the runs of this pattern it is."""
    return json.dumps({"name": name, "run_key": run_key}) + "\n"
