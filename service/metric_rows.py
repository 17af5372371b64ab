"""What the metrics are made from: few rows, whatever the number of datasets in the catalog."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from lineage.catalog.reader import Reader
from lineage.clock import to_micros
from service.answers.datasets import WORST_FIRST

MOST_LISTED = 500
MOST_ROWS = 1_000  # of a table that is small unless something is wrong
WINDOWS_DAYS = {"1d": 1, "7d": 7, "30d": 30}

_JUDGED = """
SELECT s.dataset_key, MAX(s.since) AS since, MIN(CASE s.state WHEN 'bad' THEN 0
  WHEN 'unknown' THEN 1 WHEN 'learning' THEN 2 ELSE 3 END) AS worst
FROM dataset_state s GROUP BY s.dataset_key
"""
_ALL = f"""
FROM dataset d
LEFT JOIN ({_JUDGED}) j ON j.dataset_key = d.dataset_key
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
WHERE d.canonical_key = d.dataset_key AND d.retired_at IS NULL
"""
_COUNTS = f"""
SELECT COALESCE(p.tier, 'optional'), COALESCE(j.worst, 1), COUNT(*) {_ALL}
GROUP BY COALESCE(p.tier, 'optional'), COALESCE(j.worst, 1)
"""
_LISTED = f"""
SELECT l.namespace, l.name, COALESCE(l.tier, 'optional'), COALESCE(l.owner, ''), s.sli, s.state,
  COALESCE(s.reason, ''), s.age_seconds, s.limit_seconds
FROM (
  SELECT d.dataset_key, d.namespace, d.name, p.tier, p.owner, j.worst, j.since {_ALL}
    AND (j.worst = 0 OR p.tier = 'critical')
  ORDER BY j.worst,
    CASE p.tier WHEN 'critical' THEN 0 WHEN 'important' THEN 1 ELSE 2 END, j.since, d.dataset_key
  LIMIT :most) l
JOIN dataset_state s ON s.dataset_key = l.dataset_key
ORDER BY l.namespace, l.name, s.sli
"""  # noqa: S608 - constants only
_COUNTERS = """
SELECT sli, tier, tier_origin, epoch, good, total, unknown FROM sli_counter
ORDER BY epoch DESC, sli, tier, tier_origin LIMIT :most
"""
_NOW = """
SELECT sli, tier, SUM(good), SUM(total), SUM(learning), SUM(excepted), SUM(unknown)
FROM sli_now GROUP BY sli, tier ORDER BY sli, tier LIMIT :most
"""
_HOURS = """
SELECT sli, tier, SUM(good), SUM(total) FROM sli_hour WHERE hour >= :since
GROUP BY sli, tier ORDER BY sli, tier LIMIT :most
"""
_LAG = "SELECT processing, le, value FROM lag_bucket ORDER BY processing, le LIMIT :most"
_ERRORS = """
SELECT reason, COUNT(*) FROM pipeline_error GROUP BY reason ORDER BY 2 DESC LIMIT :most
"""
_MOST = {"most": MOST_ROWS}


class Listed(msgspec.Struct, frozen=True):
    """One SLI's state of one of the datasets that are shown by name."""

    dataset_namespace: str
    dataset: str
    tier: str
    owner: str
    sli: str
    state: str
    reason: str
    age_seconds: float | None
    limit_seconds: float | None


class Standing(msgspec.Struct, frozen=True):
    """How the datasets stand at one evaluation: what changes with an evaluation and only then."""

    counts: dict[tuple[str, str], int]  # by tier and worst state
    listed: list[Listed]

    @property
    def others(self) -> dict[tuple[str, str], int]:
        """Bad or critical datasets that are not listed, by tier and worst state."""
        shown: dict[tuple[str, str], int] = {}
        for tier, state in _worst_of(self.listed).values():
            shown[tier, state] = shown.get((tier, state), 0) + 1
        listable = [id_ for id_ in self.counts if id_[0] == "critical" or id_[1] == "bad"]
        return {id_: self.counts[id_] - shown.get(id_, 0) for id_ in listable}


def standing(reader: Reader) -> Standing:
    """Counts of all, and rows of the worst."""
    counts = {(tier, WORST_FIRST[rank]): n for tier, rank, n in reader.rows(_COUNTS)}
    rows = reader.rows(_LISTED, {"most": MOST_LISTED})
    return Standing(counts, [Listed(*row) for row in rows])


def _worst_of(listed: list[Listed]) -> dict[tuple[str, str], tuple[str, str]]:
    worst: dict[tuple[str, str], tuple[str, str]] = {}
    for row in listed:
        dataset = (row.dataset_namespace, row.dataset)
        known = worst.get(dataset, (row.tier, "good"))[1]
        state = min(known, row.state, key=WORST_FIRST.index)
        worst[dataset] = (row.tier, state)
    return worst


def counters(reader: Reader) -> list[tuple[Any, ...]]:
    """(sli, tier, tier_origin, epoch, good, total, unknown) since each epoch began."""
    return reader.rows(_COUNTERS, _MOST)


def now_counts(reader: Reader) -> list[tuple[Any, ...]]:
    """(sli, tier, good, total, learning, excepted, unknown) at the last evaluation."""
    return reader.rows(_NOW, _MOST)


def corrected(reader: Reader, now: datetime, days: int) -> list[tuple[Any, ...]]:
    """(sli, tier, good, total) of the corrected history of that many days."""
    since = to_micros(now - timedelta(days=days))
    return reader.rows(_HOURS, {"since": since, **_MOST})


def lag_buckets(reader: Reader) -> dict[str, dict[str, float]]:
    """By processing, the cumulative count of each upper bound; under `sum`, the sum of seconds."""
    found: dict[str, dict[str, float]] = {}
    for processing, bound, value in reader.rows(_LAG, _MOST):
        found.setdefault(processing, {})[bound] = value
    return found


def errors(reader: Reader) -> list[tuple[Any, ...]]:
    """(reason, events that the pipeline could not take in)."""
    return reader.rows(_ERRORS, _MOST)
