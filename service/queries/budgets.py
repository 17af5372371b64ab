"""Rest of each error budget, by the corrected history of its window."""

import math
from datetime import datetime, timedelta

import msgspec

from alerts.rules.burn_windows import LEAST_OBSERVED
from lineage.catalog.queries import ALL_HOURS
from lineage.catalog.reader import CatalogReader
from lineage.process.clock import SECOND_MICROS, to_micros
from service.queries.slis import MOST_UNKNOWN, Objectives

DAYS = 30
LEAST_DAYS = math.ceil(float(LEAST_OBSERVED) * DAYS)  # of data, before a rest is known
_LEAST_SECONDS = float(LEAST_OBSERVED) * DAYS * 86_400
_WINDOW = f"""
SELECT sli, tier, SUM(good) AS good, SUM(total) AS total, SUM(unknown) AS unknown,
  MIN(hour) AS first_hour
FROM {ALL_HOURS} WHERE hour >= :since GROUP BY sli, tier
"""  # noqa: S608 - a constant


class BudgetLeft(msgspec.Struct, frozen=True):
    """Rest of one error budget.

    Attributes:
        ratio: 1 untouched, 0 used up, below 0 overdrawn; null while there is too little data.
        observed_seconds: for how long of the period there is data.
    """

    ratio: float | None
    observed_seconds: float


def budgets_left(
    reader: CatalogReader, objectives: Objectives, now: datetime
) -> dict[tuple[str, str], BudgetLeft]:
    """Return what is left over 30 days, by SLI and tier.

    Left out: what has no objective, one of 1 (which lets nothing be bad), no sample, and what is
    mostly unknown. With data of less than half the period there is no ratio: as in
    `alerts.rules.recordings`, ten bad minutes are no month that is overdrawn 20 times.
    """
    since = to_micros(now - timedelta(days=DAYS))
    found = {}
    for row in reader.rows(_WINDOW, {"since": since}):
        allowed = 1 - objectives.get((row.sli, row.tier), 1.0)
        total = row.total
        if allowed > 0 and total and row.unknown <= MOST_UNKNOWN * (row.unknown + total):
            observed = (to_micros(now) - row.first_hour) / SECOND_MICROS
            ratio = 1 - (1 - row.good / total) / allowed if observed >= _LEAST_SECONDS else None
            found[row.sli, row.tier] = BudgetLeft(ratio, observed)
    return found
