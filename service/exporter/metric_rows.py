"""Rows for the metrics: few, whatever the number of datasets in the catalog."""

import heapq
from collections import Counter
from datetime import datetime, timedelta

import msgspec

from lineage.catalog.meta_keys import CATALOG_EPOCH
from lineage.catalog.queries import (
    ALL_HOURS,
    JOIN_WORST_STATE,
    STATES_BY_SEVERITY,
    TIER_IN_FORCE,
    is_listed,
)
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row, convert_rows, pairs_of
from lineage.process.clock import to_micros
from lineage.states import BAD, COVERAGE, CRITICAL, TIERS

MOST_LISTED = 500
MOST_OWNERS = 50  # by name, of each figure that is shown by owner
OTHER_OWNERS = "(other)"
MOST_ROWS = 1_000  # of a table that is small unless something is wrong
WINDOWS_DAYS = {"1d": 1, "7d": 7, "30d": 30}

_STANDING = f"""
SELECT d.dataset_key, {TIER_IN_FORCE} AS tier, s.since, d.state_rank FROM dataset d
{JOIN_WORST_STATE}
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
WHERE {is_listed()}
"""  # noqa: S608 - constants only
_LISTED = f"""
SELECT d.namespace AS dataset_namespace, d.name AS dataset, {TIER_IN_FORCE} AS tier,
  COALESCE(p.owner, '') AS owner, s.sli, s.state, COALESCE(s.reason, '') AS reason, s.age_seconds,
  s.limit_seconds
FROM dataset_state s
JOIN dataset d ON d.dataset_key = s.dataset_key
LEFT JOIN dataset_policy p ON p.dataset_key = s.dataset_key
WHERE s.dataset_key IN (:keys)
"""  # noqa: S608 - constants only
_COUNTERS = f"""
SELECT sli, tier, tier_origin, epoch, good, total, unknown FROM sli_counter
UNION ALL SELECT c.sli, c.tier, c.tier_origin, m.value, c.good, c.total, c.unknown
FROM served_counter c JOIN meta m ON m.name = '{CATALOG_EPOCH}'
ORDER BY 4 DESC, 1, 2, 3 LIMIT :most
"""  # noqa: S608 - a name of ours
_NOW = """
SELECT sli, tier, SUM(good) AS good, SUM(total) AS total, SUM(learning) AS learning,
  SUM(excepted) AS excepted, SUM(unknown) AS unknown
FROM sli_now GROUP BY sli, tier ORDER BY sli, tier LIMIT :most
"""
_HOURS = f"""
SELECT sli, tier, SUM(good) AS good, SUM(total) AS total FROM {ALL_HOURS}
WHERE hour >= :since GROUP BY sli, tier ORDER BY sli, tier LIMIT :most
"""  # noqa: S608 - a constant
_BUCKETS = """
SELECT metric, backend, query, le, value FROM served_bucket
ORDER BY metric, backend, query LIMIT :most
"""
_SERVED = "SELECT metric, label, value FROM served_count ORDER BY metric, label LIMIT :most"
_LAG = "SELECT processing, le, value FROM lag_bucket ORDER BY processing, le LIMIT :most"
_ERRORS = """
SELECT stage, cause, origin, events FROM error_count ORDER BY events DESC LIMIT :most
"""
_WITHOUT_CHECKSUM = f"""
SELECT {TIER_IN_FORCE}, COUNT(*) FROM dataset d
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
WHERE {is_listed()}
AND NOT EXISTS (SELECT 1 FROM dataset_checksum c WHERE c.dataset_key = d.dataset_key)
GROUP BY 1
"""  # noqa: S608 - constants only
_WITHOUT_LINEAGE = f"""
SELECT {TIER_IN_FORCE}, COALESCE(p.owner, ''), COUNT(*) FROM dataset_state s
LEFT JOIN dataset_policy p ON p.dataset_key = s.dataset_key
WHERE s.sli = '{COVERAGE.id}' AND s.state = '{BAD}' GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2
"""  # noqa: S608 - words of ours
_WITHOUT_OWNER = f"""
SELECT {TIER_IN_FORCE}, COUNT(*) FROM dataset d
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
WHERE {is_listed()} AND COALESCE(p.owner, '') = ''
GROUP BY 1
"""  # noqa: S608 - constants only
_MOST = {"most": MOST_ROWS}
_BAD = STATES_BY_SEVERITY.index(BAD)
TierState = tuple[str, str]
TierOwner = tuple[str, str]
ASIDES: tuple[str, ...] = ("history", "skewed")  # counted beside the lags


class ListedState(msgspec.Struct, frozen=True):
    """State of one SLI of a dataset that is shown by name."""

    dataset_namespace: str
    dataset: str
    tier: str
    owner: str
    sli: str
    state: str
    reason: str
    age_seconds: float | None
    limit_seconds: float | None


class LagFigures(msgspec.Struct, frozen=True):
    """Histogram of lags, and the events that are counted beside it."""

    buckets: list[tuple[str, float]]  # cumulative, by upper bound in seconds, the last one "+Inf"
    sum_seconds: float
    asides: dict[str, float]  # history, skewed


class DatasetSnapshot(msgspec.Struct, frozen=True):
    """State of all datasets at one evaluation; it changes with an evaluation and only then."""

    counts: Counter[TierState]
    others: Counter[TierState]  # bad or critical, and not listed
    listed: list[ListedState]
    without_checksum: dict[str, int]  # by tier
    without_owner: dict[str, int]  # by tier
    without_lineage: Counter[TierOwner]


def standing(reader: CatalogReader) -> DatasetSnapshot:
    """Count all datasets by tier and state, and list the most severe."""
    rows = reader.rows(_STANDING)
    counts = Counter((tier, STATES_BY_SEVERITY[rank]) for _, tier, _, rank in rows)
    listable = [row for row in rows if row.state_rank == _BAD or row.tier == CRITICAL]
    most_severe = heapq.nsmallest(MOST_LISTED, listable, key=_gravity)
    others = Counter({id_: n for id_, n in counts.items() if id_[0] == CRITICAL or id_[1] == BAD})
    others.subtract((tier, STATES_BY_SEVERITY[rank]) for _, tier, _, rank in most_severe)
    listed = rows_for(reader, _LISTED, [row[0] for row in most_severe])
    by_name = sorted(convert_rows(ListedState, listed), key=_by_name)
    return DatasetSnapshot(
        counts,
        others,
        by_name,
        without_checksum=pairs_of(reader.rows(_WITHOUT_CHECKSUM)),
        without_owner=pairs_of(reader.rows(_WITHOUT_OWNER)),
        without_lineage=_by_owner(reader.rows(_WITHOUT_LINEAGE)),
    )


def _by_owner(rows: list[Row]) -> Counter[TierOwner]:
    """Count by owner: the largest, the rest under one name, and 0 for a tier without any."""
    found: Counter[TierOwner] = Counter({(tier, ""): 0 for tier in TIERS})
    for place, (tier, owner, count) in enumerate(rows):
        found[tier, owner if place < MOST_OWNERS else OTHER_OWNERS] += count
    return found


def _gravity(row: Row) -> tuple[int, int, int, int]:
    """Sort by severity, then by tier, then by age."""
    dataset_key, tier, since, rank = row
    return rank, [*TIERS, tier].index(tier), since or 0, dataset_key


def _by_name(row: ListedState) -> tuple[str, str, str]:
    return row.dataset_namespace, row.dataset, row.sli


def counters(reader: CatalogReader) -> list[Row]:
    """Return (sli, tier, tier_origin, epoch, good, total, unknown) since each epoch began."""
    return reader.rows(_COUNTERS, _MOST)


def now_counts(reader: CatalogReader) -> list[Row]:
    """Return (sli, tier, good, total, learning, excepted, unknown) at the last evaluation."""
    return reader.rows(_NOW, _MOST)


def corrected_hours(reader: CatalogReader, now: datetime, days: int) -> list[Row]:
    """Return (sli, tier, good, total) of the corrected history of that many days."""
    since = to_micros(now - timedelta(days=days))
    return reader.rows(_HOURS, {"since": since, **_MOST})


def lag_figures(reader: CatalogReader) -> dict[str, LagFigures]:
    """Return the lag histogram since the catalog began, by processing type."""
    found: dict[str, dict[str, float]] = {}
    for processing, name, value in reader.rows(_LAG, _MOST):
        found.setdefault(processing, {})[name] = value
    return {processing: _lag_figures(values) for processing, values in found.items()}


def _lag_figures(values: dict[str, float]) -> LagFigures:
    asides = {name: values.pop(name, 0.0) for name in ASIDES}
    sum_seconds = values.pop("sum", 0.0)
    buckets = sorted(values.items(), key=lambda bucket: float(bucket[0]))
    return LagFigures(buckets, sum_seconds, asides)


def errors(reader: CatalogReader) -> list[Row]:
    """Return (stage, cause, origin, events that failed there) since the catalog began."""
    return reader.rows(_ERRORS, _MOST)


def served_buckets(reader: CatalogReader) -> dict[tuple[str, str, str], LagFigures]:
    """Return the latency histograms of queries, by metric, backend and query."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for metric, backend, query, le, value in reader.rows(_BUCKETS, _MOST):
        found.setdefault((metric, backend, query), {})[le] = value
    return {labels: _lag_figures(values) for labels, values in found.items()}


def served_counts(reader: CatalogReader) -> list[Row]:
    """Return (metric, label, value) of what is counted beside the SLIs."""
    return reader.rows(_SERVED, _MOST)
