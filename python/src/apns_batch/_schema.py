"""The columns of rows, compared with those of another call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Schema:
    """What a call knows of the columns of its rows. Their order makes no difference."""

    kinds: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())
    """The types of columns by their names; an empty text if the values decide about the type."""
    optional: tuple[str, ...] = ()
    """Names that only some of the first rows have, so that other rows may have others."""
    source: str = ""
    """Whose types these are, such as `polars`. Those of different packages have different names."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all columns."""
        return (*self.kinds, *self.optional)

    def differences(self, then: Schema, uses: Callable[[str], bool]) -> Iterator[str]:
        """Says what is different now from another call; nothing if one of both knows nothing.

        :param then: The schema of that call.
        :param uses: Whether the campaign uses a column. Others make no difference.
        """
        if not self.names or not then.names:
            return
        for name, kind in self.kinds.items():
            if name not in then.names and uses(name):
                yield f"column {_with(name, kind)} is new"
        for name, kind in then.kinds.items():
            if name not in self.names and uses(name):
                yield f"column {_with(name, kind)} is gone"
        if self.source != then.source:
            return
        for name, kind in filter(lambda column: uses(column[0]), self.kinds.items()):
            before = then.kinds.get(name, kind)
            if kind and before and kind != before:
                yield f"column {name} was {before} and is {kind}"


def _with(name: str, kind: str) -> str:
    return f"{name} ({kind})" if kind else name
