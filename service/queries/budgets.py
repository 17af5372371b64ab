"""What is left of each error budget, by the corrected history of its window."""

from datetime import datetime, timedelta

import msgspec

from alerts.rules.burn_windows import LEAST_OBSERVED
from lineage.catalog.reader import Reader
from lineage.process.clock import to_micros
from service.queries.slis import MOST_UNKNOWN, Objectives

DAYS = 30
_LEAST_SECONDS = float(LEAST_OBSERVED) * DAYS * 86_400
_WINDOW = """
SELECT sli, tier, SUM(good), SUM(total), SUM(unknown), MIN(hour) FROM (
  SELECT sli, tier, good, total, unknown, hour FROM sli_hour
  UNION ALL SELECT sli, tier, good, total, unknown, hour FROM served_hour
) AS hours WHERE hour >= :since GROUP BY sli, tier
"""


class BudgetLeft(msgspec.Struct, frozen=True):
    """Rest of one error budget.

    Attributes:
        ratio: 1 untouched, 0 used up, below 0 overdrawn; null while it is too early to tell.
        observed_seconds: for how long of the period there is data.
    """

    ratio: float | None
    observed_seconds: float


def budgets_left(
    reader: Reader, objectives: Objectives, now: datetime
) -> dict[tuple[str, str], BudgetLeft]:
    """Return what is left over 30 days, by SLI and tier.

    Left out: what has no objective, one of 1 (which lets nothing be bad), no sample, and what is
    mostly unknown. With data of less than half the period there is no ratio: as in
    `alerts.rules.recordings`, ten bad minutes are no month that is overdrawn 20 times.
    """
    since = to_micros(now - timedelta(days=DAYS))
    found = {}
    for sli, tier, good, total, unknown, first_hour in reader.rows(_WINDOW, {"since": since}):
        allowed = 1 - objectives.get((sli, tier), 1.0)
        if allowed > 0 and total and unknown <= MOST_UNKNOWN * (unknown + total):
            observed = (to_micros(now) - first_hour) / 1e6
            ratio = 1 - (1 - good / total) / allowed if observed >= _LEAST_SECONDS else None
            found[sli, tier] = BudgetLeft(ratio, observed)
    return found
