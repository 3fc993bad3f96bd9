"""Logs how a run goes on."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Generator

from ._errors import ConfigurationError
from ._layout import RunLayout
from ._manifest import Manifest
from ._status import StatusReader

_log = logging.getLogger("apns_batch")
_EVERY_SECONDS = 10.0


@contextlib.contextmanager
def progress_of(
    layout: RunLayout, manifest: Manifest, every: float = _EVERY_SECONDS
) -> Generator[None, None, None]:
    """Logs a line every ten seconds until the block ends."""
    ends = threading.Event()
    thread = threading.Thread(target=_log_progress, args=(layout, manifest, every, ends), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join()


def _log_progress(layout: RunLayout, manifest: Manifest, every: float, ends: threading.Event) -> None:
    reader = StatusReader(layout, manifest)
    began, before = time.monotonic(), None
    while not ends.wait(every):
        try:
            status = reader.read()
        except ConfigurationError as error:
            _log.warning("the progress of the run cannot be read: %s", error)
            continue
        elapsed = time.monotonic() - began
        if before is None:
            before = (elapsed, status.ended)
        rate = (status.ended - before[1]) / max(elapsed - before[0], every)
        left = f", {(status.rows - status.ended) / rate:.0f} s left" if rate > 0 else ""
        _log.info(
            "%d of %d rows (%.1f %%), %d of %d parts complete, %.0f rows/s%s",
            *(status.ended, status.rows, 100 * status.ended / max(1, status.rows)),
            *(status.count("complete"), len(status.parts), rate, left),
        )
