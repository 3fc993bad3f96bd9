"""The manifest: which parts a run has, and what identifies it."""

from __future__ import annotations

import hashlib
import json
import pathlib
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime, timezone
from typing import Any, cast

from ._errors import ConfigurationError
from ._layout import RunLayout, files_below, write_whole
from ._schema import Schema

_FORMAT = 1


@dataclass(frozen=True)
class Part:
    """A file of frozen rows."""

    part: int
    """Its number, from 0."""
    input: str
    """Its path, relative to the run directory."""
    bytes: int
    rows: int
    sha256: str = ""
    """Of its bytes; empty in a run that an earlier version has begun."""


@dataclass(frozen=True)
class Settled:
    """What the first start decided for the whole run, and what later starts do not change."""

    pattern: str | None = None
    """The path that the run directory was made from, absolute and with `{date}`; None if it was given as it is."""
    night: str | None = None
    """The date on which the night of the run began, such as 2026-11-29."""
    not_after: str | None = None
    """The last moment for requests, in UTC, such as 2026-11-30T05:00:00Z."""
    canary: int | None = None
    canary_max_rejected: float | None = None
    """In percent."""
    spread_seconds: float | None = None
    on_unknown: str | None = None
    """What the first start said, for those that do not say it, such as `retry_unavailable` of a run that was opened."""
    run_key: str | None = None
    """What the caller tells runs apart by."""
    schema: Schema = field(default_factory=Schema)
    """The columns of the rows with their types, as far as they are known."""

    @staticmethod
    def read(content: Mapping[str, Any]) -> Settled:
        """A member that this version does not know is left out."""
        known = {each.name for each in fields(Settled)}
        values = {name: value for name, value in content.items() if name in known}
        schema = values.pop("schema", None)
        if isinstance(schema, dict):
            found = cast("dict[str, Any]", schema)
            values["schema"] = Schema(dict(found["kinds"]), tuple(found["optional"]), found.get("source", ""))
        return Settled(**values)


@dataclass(frozen=True)
class Manifest:
    campaign_id: str
    """The UUID from which those of the parts are derived."""
    name: str
    began: str
    """In UTC, such as 2026-01-01T08:00:00Z."""
    campaign_digest: str
    parts: tuple[Part, ...]
    settled: Settled = Settled()

    @property
    def rows(self) -> int:
        return sum(part.rows for part in self.parts)

    def part_id(self, part: int) -> str:
        """The campaign id of a part: a UUID of version 5 (RFC 9562, section 5.5), the same whenever it is asked for."""
        return str(uuid.uuid5(uuid.UUID(self.campaign_id), f"part {part}"))

    def ending(self, not_after: str | None) -> Manifest:
        """The same run with another last moment for requests."""
        return replace(self, settled=replace(self.settled, not_after=not_after))

    def refuse_late_retry(self, layout: RunLayout) -> None:
        """Raises ConfigurationError if unavailable rows would expire instead of being sent again."""
        end = self.settled.not_after
        # Both are of one length.
        if end is not None and end <= now():
            raise ConfigurationError(
                f"{layout.root}: not_after, {end}, has passed, so that unavailable rows would expire instead of being sent again;"
                " give retry_unavailable a later one, such as settings={'not_after': '2h'}, or None for no end"
            )

    def write(self, layout: RunLayout) -> None:
        content = {"format": _FORMAT, **asdict(self)}
        write_whole(layout.manifest, json.dumps(content, indent=1) + "\n")

    @staticmethod
    def read(layout: RunLayout) -> Manifest:
        """Raises ConfigurationError if the file is missing or is none of this version."""
        path = layout.manifest
        try:
            content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if content["format"] != _FORMAT:
                raise ConfigurationError(
                    f"{path}: format {content['format']} is not that of this version, {_FORMAT}"
                )
            parts = tuple(Part(**part) for part in content["parts"])
            return Manifest(
                *(content["campaign_id"], content["name"], content["began"], content["campaign_digest"]),
                parts,
                Settled.read(content.get("settled", {})),
            )
        except FileNotFoundError:
            raise ConfigurationError(f"{layout.root}: there is no run in parts") from None
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(f"{path}: this is not the manifest of a run: {error}") from error


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def digest_of(directory: pathlib.Path) -> str:
    """The SHA-256 of all files of a directory with their names."""
    digest = hashlib.sha256()
    for path in files_below(directory):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(directory)}\n{len(content)}\n".encode())
        digest.update(content)
    return f"sha256-{digest.hexdigest()}"
