"""The campaign, as the command copies it for machines that send parts of its rows."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pathlib
import re
import shutil
import tempfile
import uuid
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, cast

from ._command import demand
from ._errors import ConfigurationError
from ._layout import RunLayout
from ._manifest import digest_of
from ._needs import Needs, copied_settings, needs_of
from ._settings import check_settings

_log = logging.getLogger("apns_batch")

CREDENTIALS = (
    "key_file",
    "key_id",
    "team_id",
    "key_passphrase_file",
    "key_passphrase_env",
    "provider_token_file",
)


@dataclass(frozen=True)
class Campaign:
    """A campaign file of the driver, with settings that replace those of the file."""

    path: str
    settings: Mapping[str, object]
    """None leaves a setting of the file out."""

    @staticmethod
    def of(path: str | os.PathLike[str], settings: Mapping[str, object] | None) -> Campaign:
        return Campaign(os.fspath(path), dict(settings or {}))

    def flags(self, only: tuple[str, ...] | None = None) -> list[str]:
        """The settings as flags of the command."""
        flags: list[str] = []
        for key, value in self.settings.items():
            # The command has a flag of this name that means something else.
            if isinstance(value, Mapping) or (key == "columns" and value is not None):
                raise ConfigurationError(
                    f"settings: {key} has keys and values; write it into the campaign file"
                )
            if value is not None and (only is None or key in only):
                flag = "--" + key.replace("_", "-")
                values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
                for each in values:
                    flags += [flag, _text(each)]
        return flags

    @property
    def without(self) -> list[str]:
        """The settings of the file that are left out."""
        return [key for key, value in self.settings.items() if value is None]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class CopiedCampaign:
    """What the command says of a copy."""

    name: str | None
    campaign_id: str | None
    credentials: str
    """signing_key, provider_token, certificate, simulator (none are needed) or none."""
    rate: float | None
    """In requests per second."""
    digest: str
    run_dir: str | None = None
    """The absolute path, with the night's date and the name of the campaign."""
    night: str | None = None
    not_after: str | None = None
    min_rows: int | None = None
    canary: int | None = None
    canary_max_rejected: float | None = None
    spread_seconds: float | None = None
    lanes: int | None = None
    connections: int | None = None
    """Of each lane."""
    report: str | None = None
    """`none` if the campaign wants no report."""
    late: str | None = None
    """Why no run may begin with it now: its end has passed. One that has begun goes on, and its rows expire."""
    warnings: tuple[str, ...] = ()
    needs: Needs = field(default_factory=Needs)


@dataclass(frozen=True)
class Request:
    """What is asked of the command when it copies a campaign."""

    run_dir: str | None = None
    """The pattern of the run directory; None for that of the campaign."""
    columns: tuple[str, ...] = ()
    """The columns of the rows; none if they are not known."""


@contextlib.contextmanager
def fresh_copy(
    binary: str, campaign: Campaign, request: Request
) -> Generator[tuple[CopiedCampaign, pathlib.Path], None, None]:
    """Copies the campaign into a directory of its own, which exists until the block ends.

    Raises ConfigurationError if the campaign is wrong, or has a setting that cannot hold for a run in parts.
    """
    with tempfile.TemporaryDirectory(prefix="apns-batch-campaign-") as scratch:
        fresh = pathlib.Path(scratch) / "campaign"
        copied = _run_copy(binary, campaign, fresh, request)
        yield copied, fresh


def keep_copy(layout: RunLayout, fresh: pathlib.Path) -> None:
    """Takes a copy into the run directory, in place of an earlier one."""
    for left in layout.root.glob(".campaign-*"):
        shutil.rmtree(left, ignore_errors=True)
    taken = layout.root / f".campaign-{uuid.uuid4().hex}"
    shutil.copytree(fresh, taken)
    shutil.rmtree(layout.campaign, ignore_errors=True)
    os.replace(taken, layout.campaign)


def _run_copy(binary: str, campaign: Campaign, directory: pathlib.Path, request: Request) -> CopiedCampaign:
    check_settings(binary, campaign.settings)
    command = [binary, "copy-campaign", campaign.path, str(directory), *campaign.flags()]
    if request.run_dir is not None:
        command += ["--run-dir", request.run_dir]
    command += [f"--without={key}" for key in campaign.without]
    # A column without a name is used by nothing, and cannot be asked for.
    command += [f"--columns={column}" for column in request.columns if column]
    try:
        said = json.loads(demand(command))
    except ConfigurationError as error:
        raise ConfigurationError(_in_python(str(error), campaign.settings)) from None
    optional = [each.name for each in fields(CopiedCampaign) if each.default is None]
    return CopiedCampaign(
        *(said.get("name"), said.get("campaign_id"), _credentials(said, directory), said.get("rate")),
        digest_of(directory),
        **{name: said.get(name) for name in optional},
        warnings=tuple(said["warnings"]),
        needs=needs_of(said, directory),
    )


def _credentials(said: Mapping[str, Any], copy: pathlib.Path) -> str:
    if said["credentials"] == "none" and copied_settings(copy).get("to") == "simulator":
        return "simulator"
    return str(said["credentials"])


def refuse_credentials(copied: CopiedCampaign) -> None:
    """Raises ConfigurationError if a run in parts cannot be sent with the credentials of a campaign."""
    if copied.credentials == "none":
        raise ConfigurationError(
            "the campaign, or the settings of this call, leave out the credentials: name key_file, key_id and team_id, or"
            " provider_token_file"
        )
    if copied.credentials == "certificate":
        raise ConfigurationError(
            "a campaign with a client certificate cannot be sent in parts: every executor would need its private key"
        )


def refuse_late(copied: CopiedCampaign) -> None:
    """Raises ConfigurationError if a run that begins now would send nothing, because the end of its campaign has passed."""
    if copied.late is not None:
        raise ConfigurationError(copied.late)


_REMEDY = re.compile(r"--without[ =]([a-z_]+)")
_FLAG = re.compile(r"^--([a-z-]+): ", re.MULTILINE)
_NO_FLAG = re.compile(r"^.*unknown option '--([a-z-]+)'.*", re.DOTALL | re.IGNORECASE)


def _in_python(message: str, settings: Mapping[str, object]) -> str:
    """A message of the command, with settings and remedies as Python has them."""

    def key(found: re.Match[str]) -> str:
        key = found[1].replace("-", "_")
        return f"settings: {key}: " if key in settings else found[0]

    if found := _NO_FLAG.match(message):
        key_of_file = found[1].replace("-", "_")
        return f"settings: {key_of_file}: write it into the campaign file"
    return _FLAG.sub(key, _REMEDY.sub(r"settings={'\1': None}", message))


def refuse_other_run(layout: RunLayout) -> None:
    """Raises ConfigurationError if the directory holds files of something else."""
    others = [
        path.name for path in layout.root.iterdir() if path.name not in {"lock"} and path.name[0] != "."
    ]
    # Whoever begins a run says so in its lock before there is anything else. A run whose rows are frozen has its campaign.
    is_run = layout.campaign.exists() if layout.manifest.exists() else layout.lock.stat().st_size > 0
    if others and not is_run:
        raise ConfigurationError(
            f"{layout.root}: the directory is not empty, and holds no run in parts: {', '.join(others[:5])}"
        )
