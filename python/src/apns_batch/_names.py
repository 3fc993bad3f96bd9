"""The name that was most likely meant, as the command finds it."""

from __future__ import annotations

from collections.abc import Sequence


def near_name(name: str, known: Sequence[str]) -> str | None:
    """Returns the known name that a mistyped name most likely stands for.

    :param name: What was expected or written.
    :param known: The names that there are.
    :return: The nearest one by edit distance, without regard to upper and lower case and to blanks around it, if it is within a third of the
        length of `name`; otherwise None.
    """
    distances = [_distance(name.lower(), each.strip().lower()) for each in known]
    least = min(distances, default=len(name))
    return known[distances.index(least)] if least <= max(1, len(name) // 3) and distances else None


def _distance(one: str, other: str) -> int:
    """The number of insertions, deletions, replacements and swaps of neighbours that lead from one text to the other."""
    before_last: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one):
        current = [row + 1]
        for index, found in enumerate(other):
            best = min(last[index + 1] + 1, current[index] + 1, last[index] + (letter != found))
            if row > 0 and index > 0 and letter == other[index - 1] and one[row - 1] == found:
                best = min(best, before_last[index - 1] + 1)
            current.append(best)
        before_last, last = last, current
    return last[-1]
