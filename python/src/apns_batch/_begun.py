"""What a directory that holds a run already has to do with the call that names it."""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Iterator

from ._campaign import CopiedCampaign
from ._claim import has_senders
from ._errors import ConfigurationError, RunBusyError
from ._layout import RunLayout
from ._manifest import Manifest
from ._options import Options
from ._place import Place
from ._schema import Schema

_log = logging.getLogger("apns_batch")

# A sender ends some two seconds after its program.
_SENDER_SECONDS = 15.0


def begun_run(layout: RunLayout) -> Manifest | None:
    """The manifest of a run whose rows may have been sent.

    Of which nothing was sent, is removed: the rows and the campaign of this call take its place.
    """
    if not layout.manifest.exists():
        if layout.complete.exists() or next(layout.parts.glob("*/ledger"), None) is not None:
            raise ConfigurationError(f"{layout.manifest}: it is missing, and rows of this run were sent")
        return None
    manifest = Manifest.read(layout)
    if any(layout.has_begun(part.part) for part in manifest.parts):
        return manifest
    if layout.complete.exists() and manifest.rows > 0:
        raise ConfigurationError(
            f"{layout.root}: this run is complete, and the files of its parts are missing. Nothing was sent now:"
            " name another run directory"
        )
    _wait_for_senders(layout)
    if any(layout.has_begun(part.part) for part in manifest.parts):
        return manifest
    for path in (layout.complete, layout.summary, layout.manifest):
        path.unlink(missing_ok=True)
    shutil.rmtree(layout.parts, ignore_errors=True)
    _log.info("%s: nothing of this run was sent; its rows are frozen anew", layout.root)
    return None


def _wait_for_senders(layout: RunLayout) -> None:
    """Waits until those of a program that was killed have ended: they could still begin a part."""
    deadline = time.monotonic() + _SENDER_SECONDS
    while has_senders(layout):
        if time.monotonic() > deadline:
            raise RunBusyError(f"{layout.root}: a sender of an earlier start has not ended")
        time.sleep(0.1)


def refuse_other_call(
    layout: RunLayout, manifest: Manifest, copied: CopiedCampaign, schema: Schema, options: Options
) -> None:
    """Raises ConfigurationError if a run has begun with something else than what this call says."""
    others = list(_differences(manifest, copied, schema, options))
    if not others:
        return
    if layout.complete.exists():
        raise ConfigurationError(
            f"{layout.root}: the run in this directory is complete, and was sent with {'; with '.join(others)}."
            " Nothing was sent now: name another run directory"
        )
    raise ConfigurationError(
        f"{layout.root}: this run has begun with {'; with '.join(others)}. Nothing was sent now:"
        " finish it with those, or name another run directory"
    )


def _differences(
    manifest: Manifest, copied: CopiedCampaign, schema: Schema, options: Options
) -> Iterator[str]:
    settled = manifest.settled
    if copied.digest != manifest.campaign_digest:
        yield "another campaign, or with other settings of it"
    if options.run_key is not None and options.run_key != settled.run_key:
        yield f"run_key={settled.run_key!r} instead of {options.run_key!r}"
    if options.expect_rows is not None and options.expect_rows != manifest.rows:
        yield f"{manifest.rows} rows, and expect_rows={options.expect_rows}"
    if changed := list(schema.differences(settled.schema, copied.needs.uses)):
        yield f"other columns ({', '.join(changed)})"


def found_place(place: Place, name: str, run_key: str | None) -> Place:
    """The place of this night, or that of another one in which the same call has begun its run."""
    if place.layout.manifest.exists():
        return place
    same = place.same_runs(name, run_key)
    if not same:
        return place
    for layout in same[:-1]:
        if not layout.complete.exists():
            _log.warning("%s: this run is not finished, and is left as it is", layout.root)
    found = same[-1]
    _log.warning(
        "%s: the run that was begun there is continued, and not that of %s: the rows given now are not sent."
        " Name the directory itself, or give runs that are not the same different values of run_key, to send them",
        *(found.root, place.layout.root),
    )
    return Place(found, place.pattern)
