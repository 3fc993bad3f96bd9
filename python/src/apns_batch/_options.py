"""What a caller can say of a run, checked before anything happens."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._errors import ConfigurationError

POLICIES = ("resend", "report", "resend-if-collapsible")
CONNECTIONS = 64


@dataclass(frozen=True)
class Options:
    """How rows are divided and sent. Limits are those of the whole run."""

    senders: int = 1
    """The number of senders at work at the same time."""
    lanes: int | None = None
    """The sending threads of a sender; None for those of the campaign, or for one."""
    rate: float | None = None
    """Requests per second of all senders together; None for that of the campaign, or for no limit."""
    connections: int | None = None
    """Connections of all senders together; None for 64."""
    parts: int | None = None
    """The number of parts; None for four for each sender."""
    on_unknown: str | None = None
    """What happens to rows that may have arrived: resend, report or resend-if-collapsible; None for that of the campaign."""
    canary: int | None = None
    """The number of first rows after which the rest is sent only if they have passed; None for what the campaign says."""
    expect_rows: int | None = None
    """The number of rows that must be frozen; None for any number."""
    run_key: str | None = None
    """What tells this run apart from others, such as the date of its rows; None if the directory does."""
    allow_empty: bool = False
    """Whether there may be no rows."""

    def __post_init__(self) -> None:
        for name in ("senders", "lanes", "parts", "connections", "canary"):
            _at_least(1, name, getattr(self, name))
        _at_least(0, "expect_rows", self.expect_rows)
        if self.rate is not None and not _is_rate(self.rate):
            raise ConfigurationError(f"rate: expected requests per second, found {self.rate!r}")
        if self.on_unknown is not None and self.on_unknown not in POLICIES:
            raise ConfigurationError(f"on_unknown: expected {', '.join(POLICIES)}, found {self.on_unknown!r}")

    @property
    def part_count(self) -> int:
        return self.parts or 4 * self.senders

    def flags(self, senders: int) -> list[str]:
        """The flags of each of `senders` senders, but for its share of the rate."""
        lanes = self.lanes or 1
        connections = (self.connections or CONNECTIONS) // (senders * lanes)
        flags = ["--lanes", str(lanes), "--connections", str(max(1, connections))]
        if self.on_unknown is not None:
            flags += ["--on-unknown", self.on_unknown]
        return flags


def _is_rate(value: object) -> bool:
    return isinstance(value, int | float) and 0 < value < math.inf


def _at_least(least: int, name: str, value: object) -> None:
    if value is not None and (not isinstance(value, int) or value < least):
        raise ConfigurationError(f"{name}: expected a whole number of at least {least}, found {value!r}")
