"""Says what would become of the rows of a DataFrame, without sending them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .._campaign import Campaign
from .._check import Check, checked
from .._errors import ConfigurationError
from .._needs import Needs
from .._rows import Line
from ._columns import check_columns
from ._lines import reasoned_lines

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def check(
    df: DataFrame,
    *,
    campaign: str | os.PathLike[str],
    settings: Mapping[str, object] | None = None,
    sample: int = 1000,
    notifications: int = 5,
) -> Check:
    """Says what is wrong with a campaign and the columns of a DataFrame, and what some of its rows would be. Nothing is sent.

    :param df: Rows as for :func:`send`. `sample` of them, and one more, are computed and come to the driver.
    :param campaign: The campaign file.
    :param settings: Settings that replace those of the campaign file, by their keys in it.
    :param sample: The rows to look at, which are the first 1,000 by default; none for the campaign and the columns alone, which need no job
        of Spark.
    :param notifications: The rows to show as they would be sent.
    :raises ConfigurationError: The command is missing. What is wrong with campaign or rows is in what is returned.
    """

    def first_lines(needs: Needs, count: int) -> list[Line]:
        needs.fit(unfit)
        if count == 0:
            return []
        rows = reasoned_lines(df, needs).limit(count).collect()
        return [Line(row.token or "", row.line, row.reason) for row in rows]

    try:
        unfit = check_columns(df)
    except ConfigurationError as error:
        return Check(faults=(str(error),))
    return checked(df.columns, first_lines, Campaign.of(campaign, settings), sample, notifications)
