"""The settings that a campaign file can have, as the command lists them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable
from typing import Any

from ._command import demand
from ._errors import ConfigurationError
from ._names import near_name


def check_settings(binary: str, keys: Iterable[object]) -> None:
    """Raises ConfigurationError if one of the keys is that of no setting."""
    known = _known(binary)
    for key in keys:
        if key not in known:
            near = near_name(key, known) if isinstance(key, str) else None
            hint = "" if near is None else f"; did you mean {near!r}?"
            raise ConfigurationError(f"settings: there is no setting {key!r:.200}{hint}")


@functools.cache
def _known(binary: str) -> tuple[str, ...]:
    schema: dict[str, Any] = json.loads(demand([binary, "reference", "--schema"]))
    return tuple(schema["properties"])
