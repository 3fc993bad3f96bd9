"""The campaign, as the command copies it for machines that send parts of its rows."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from ._command import demand
from ._errors import ConfigurationError
from ._layout import RunLayout
from ._manifest import digest_of

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

    def flags(self, only: tuple[str, ...] | None = None) -> list[str]:
        """The settings as flags of the command."""
        flags: list[str] = []
        for key, value in self.settings.items():
            if only is None or key in only:
                flag = "--" + key.replace("_", "-")
                values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
                for each in values:
                    flags += [flag, str(each)]
        return flags


@dataclass(frozen=True)
class CopiedCampaign:
    """What the command says of a copy."""

    name: str | None
    campaign_id: str | None
    credentials: str
    """signing_key, provider_token, certificate or none."""
    rate: float | None
    """In requests per second."""
    left_out: tuple[str, ...]
    digest: str


def copy_campaign(binary: str, campaign: Campaign, layout: RunLayout, may_replace: bool) -> CopiedCampaign:
    """Copies the campaign into the run directory.

    Raises ConfigurationError if the campaign is wrong, or if it is not the one that the run has begun with.
    """
    with tempfile.TemporaryDirectory(prefix=".campaign-", dir=layout.root) as scratch:
        fresh = pathlib.Path(scratch) / "campaign"
        copied = _run_copy(binary, campaign, fresh)
        if layout.campaign.exists():
            if digest_of(layout.campaign) == copied.digest:
                return copied
            if not may_replace:
                raise ConfigurationError(
                    f"{layout.root}: this run has begun with another campaign, or with other settings of it;"
                    " finish it with those, or name another run directory"
                )
            shutil.rmtree(layout.campaign)
        os.replace(fresh, layout.campaign)
    return copied


def _run_copy(binary: str, campaign: Campaign, directory: pathlib.Path) -> CopiedCampaign:
    command = [binary, "copy-campaign", campaign.path, str(directory), *campaign.flags()]
    said = json.loads(demand(command))
    return CopiedCampaign(
        said.get("name"),
        said.get("campaign_id"),
        said["credentials"],
        said.get("rate"),
        tuple(said["left_out"]),
        digest_of(directory),
    )


def refuse_other_run(layout: RunLayout) -> None:
    """Raises ConfigurationError if the directory holds files of something else."""
    others = [
        path.name for path in layout.root.iterdir() if path.name not in {"lock"} and path.name[0] != "."
    ]
    if others and not layout.campaign.exists():
        raise ConfigurationError(
            f"{layout.root}: the directory is not empty, and holds no run in parts: {', '.join(others[:5])}"
        )
