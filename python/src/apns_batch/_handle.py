"""A run in parts that was sent, or that another program is sending."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ._campaign import Campaign
from ._command import ask, find_binary
from ._control import Wishes
from ._driver import Driver, Sent
from ._errors import ConfigurationError
from ._layout import RunLayout
from ._machines import Machines
from ._manifest import Manifest
from ._options import Options
from ._part import INTERRUPTED, earlier_messages, stop_all
from ._status import Status, read_status
from ._storage import is_locked
from ._summary import Summary


@dataclass(frozen=True)
class RunHandle:
    """What can be done with a run in parts."""

    run_dir: str
    """The absolute path of its directory."""
    summary: Summary
    """Its sums, as they were when it was sent or opened."""
    was_complete: bool = False
    """Whether it was complete before the call that returned this. That call has sent nothing, and has not looked at its rows."""
    driver: Driver | None = field(default=None, repr=False, compare=False)

    @property
    def night(self) -> str | None:
        """The date on which the night of the run began; None if nobody has said."""
        return Manifest.read(self._layout).settled.night

    @property
    def _layout(self) -> RunLayout:
        return RunLayout.of(self.run_dir)

    def status(self) -> Status:
        """How the run stands now. It may be asked while the run is sent.

        :raises ConfigurationError: The directory holds no run in parts any more.
        """
        return read_status(self._layout, Manifest.read(self._layout))

    def control(self, request: str) -> None:
        """Asks all senders of a run that is being sent, on whatever machines they are, for something else. They look once a second.

        :param request: `pause`, `continue`, `stop`, or `rate=5000`, in requests per second of all of them. The next start of the run begins
            without.
        :raises ConfigurationError: The request is none of these, or nobody is sending the run.
        """
        layout = self._layout
        wishes = None if request == "stop" else Wishes.read(layout).after(request)
        if not is_locked(layout.lock):
            raise ConfigurationError(f"{layout.root}: nobody is sending this run")
        if wishes is None:
            stop_all(layout, -1, INTERRUPTED, "somebody asked to stop")
        else:
            wishes.write(layout)

    def report(self) -> pathlib.Path:
        """Makes the report of all parts again.

        :return: The path of report.html.
        :raises ConfigurationError: It cannot be made.
        """
        done = ask([find_binary(), "report", str(self._layout.root)])
        if done.returncode != 0:
            raise ConfigurationError(f"{self.run_dir}: the run has no report: {done.stderr.strip()}")
        return self._layout.root / "report.html"

    def _retried(
        self,
        machines: Machines,
        campaign: str | os.PathLike[str] | None,
        settings: Mapping[str, object] | None,
        senders: int | None,
        rate: float | None,
    ) -> Sent:
        driver = self.driver
        if campaign is not None:
            driver = Driver(self.run_dir, Campaign.of(campaign, settings), Options())
        if driver is None:
            raise ConfigurationError(
                "campaign: name the campaign of this run, whose key is read to send again"
            )
        has_own_end = "not_after" in (settings or {})
        if campaign is None and settings is not None:
            driver = replace(driver, campaign=Campaign.of(driver.campaign.path, settings))
        options = replace(
            driver.options, senders=senders or driver.options.senders, rate=rate or driver.options.rate
        )
        return replace(driver, options=options).retry_unavailable(self._layout, machines, has_own_end)


def summary_of(layout: RunLayout) -> Summary:
    """The sums of a run as its parts have them, which may be sent at the moment."""
    manifest = Manifest.read(layout)
    return Summary.of(manifest, earlier_messages(layout, manifest))
