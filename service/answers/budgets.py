"""What is left of each error budget, by the corrected history of its window."""

from datetime import datetime, timedelta

from lineage.catalog.reader import Reader
from lineage.clock import to_micros
from service.answers.slis import MOST_UNKNOWN, Objectives

DAYS = 30
_WINDOW = """
SELECT sli, tier, SUM(good), SUM(total), SUM(unknown) FROM (
  SELECT sli, tier, good, total, unknown, hour FROM sli_hour
  UNION ALL SELECT sli, tier, good, total, unknown, hour FROM served_hour
) AS hours WHERE hour >= :since GROUP BY sli, tier
"""


def budgets_left(
    reader: Reader, objectives: Objectives, now: datetime
) -> dict[tuple[str, str], float]:
    """By SLI and tier: 1 untouched, 0 gone, below 0 overdrawn, over 30 days.

    Left out: what has no objective, one of 1 (which lets nothing be bad), no sample, and what is
    mostly unknown.
    """
    since = to_micros(now - timedelta(days=DAYS))
    rows = reader.rows(_WINDOW, {"since": since})
    found = {}
    for sli, tier, good, total, unknown in rows:
        allowed = 1 - objectives.get((sli, tier), 1.0)
        if allowed > 0 and total and unknown <= MOST_UNKNOWN * (unknown + total):
            found[sli, tier] = 1 - (1 - good / total) / allowed
    return found
