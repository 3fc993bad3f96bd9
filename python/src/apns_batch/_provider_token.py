"""Keeps the provider token of a run fresh, so that only the driver needs the signing key."""

from __future__ import annotations

import contextlib
import logging
import pathlib
import threading
from collections.abc import Generator

from ._campaign import CREDENTIALS, Campaign, CopiedCampaign
from ._command import demand
from ._errors import ConfigurationError
from ._layout import RunLayout

_log = logging.getLogger("apns_batch")

# APNs accepts a token for an hour, and a new one every 20 minutes
# (Apple, Establishing a token-based connection to APNs).
TOKEN_SECONDS = 45 * 60.0
_RETRY_SECONDS = 30.0


@contextlib.contextmanager
def provider_token(
    binary: str, campaign: Campaign, copied: CopiedCampaign, layout: RunLayout, every: float = TOKEN_SECONDS
) -> Generator[pathlib.Path | None, None, None]:
    """Writes the token that all senders use, and replaces it until the block ends.

    Gives the path of the token, or None if the campaign is sent to the simulator inside each sender.
    """
    if copied.credentials == "simulator":
        yield None
        return
    keeper = _Keeper(binary, campaign, layout.provider_token, every)
    keeper.write()
    keeper.start()
    try:
        yield layout.provider_token
    finally:
        keeper.stop()
        layout.provider_token.unlink(missing_ok=True)


class _Keeper(threading.Thread):
    def __init__(self, binary: str, campaign: Campaign, path: pathlib.Path, every: float) -> None:
        super().__init__(name="apns-batch-token", daemon=True)
        self._command = [
            *(binary, "provider-token", campaign.path, *campaign.flags(CREDENTIALS)),
            *("--output", str(path)),
        ]
        self._every = every
        self._ends = threading.Event()

    def write(self) -> None:
        demand(self._command)

    def run(self) -> None:
        delay = self._every
        while not self._ends.wait(delay):
            delay = self._every
            try:
                self.write()
            except (ConfigurationError, OSError) as error:
                # The senders have a token that is good for some more minutes.
                _log.warning("the provider token was not replaced, and is tried again in 30 s: %s", error)
                delay = min(_RETRY_SECONDS, self._every)

    def stop(self) -> None:
        self._ends.set()
        self.join()
