"""Metrics that are too slow to compute on every scrape, and their cache.

Of the last days: schema changes, failed runs, and the readers of their datasets. And the sizes of
the catalog and of the lake.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Final

import msgspec
from prometheus_client.core import GaugeMetricFamily, Metric

from lineage.catalog.queries import FAILS, leaf_job
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.process.clock import SECOND_MICROS, to_micros
from lineage.states import TIERS
from service.queries.visibility import EVERYTHING
from service.queries.walk import MOST_DEPTH, NEXT, CatalogWalk
from service.runtime.settings import Settings

EVERY_SECONDS: Final = 15.0  # as often as Prometheus usually scrapes
MOST_SHARE: Final = 1 / 20  # of the time

MOST_LISTED = 50  # of each kind, the newest
CHANGE_DAYS = 7
FAILED_HOURS = 24
_NAMED = """
JOIN dataset d ON d.dataset_key = found.dataset_key AND d.retired_at IS NULL
ORDER BY found.at DESC, found.dataset_key LIMIT :most
"""
# The first that was ever seen is no change.
_SCHEMA = f"""
SELECT found.dataset_key, d.namespace, d.name, found.at FROM (
  SELECT v.dataset_key, MAX(v.first_seen_at) AS at FROM schema_version v
  WHERE v.first_seen_at >= :since AND EXISTS (SELECT 1 FROM schema_version e
    WHERE e.dataset_key = v.dataset_key AND e.first_seen_at < v.first_seen_at)
  GROUP BY v.dataset_key
) AS found {_NAMED}
"""  # noqa: S608 - constants only
# By the index of (dataset, time): what it costs goes by the datasets, not by their writes. Code of
# a week ago is the last that wrote before, or, of what is younger, the first of all.
_WROTE = """
SELECT w.code_version FROM dataset_write w
WHERE w.dataset_key = a.dataset_key AND w.code_version IS NOT NULL"""
_CODE = f"""
SELECT found.dataset_key, d.namespace, d.name, found.at FROM (
  SELECT spans.dataset_key, (SELECT MIN(w.written_at) FROM dataset_write w
      WHERE w.dataset_key = spans.dataset_key AND w.code_version = spans.code
      AND w.written_at >= :since) AS at
  FROM (
    SELECT a.dataset_key, ({_WROTE} ORDER BY w.written_at DESC LIMIT 1) AS code,
      COALESCE(({_WROTE} AND w.written_at < :since ORDER BY w.written_at DESC LIMIT 1),
        ({_WROTE} ORDER BY w.written_at LIMIT 1)) AS before
    FROM dataset_activity a WHERE a.last_written_at >= :since
  ) AS spans WHERE spans.code <> spans.before
) AS found {_NAMED}
"""  # noqa: S608 - constants only
# Until a write came after it; two jobs may share a run's id.
_FAILED = f"""
SELECT found.dataset_key, d.namespace, d.name, found.at, found.job_namespace, found.job_name FROM (
  SELECT a.dataset_key, a.last_failed_at AS at, COALESCE(MIN({leaf_job("namespace")}), '')
    AS job_namespace, COALESCE(MIN({leaf_job("name")}), '') AS job_name
  FROM dataset_activity a LEFT JOIN run r ON r.run_id = a.last_failed_run_id
  WHERE a.last_failed_at >= :since AND {FAILS}
  GROUP BY a.dataset_key, a.last_failed_at
) AS found {_NAMED}
"""  # noqa: S608 - constants only
_TIERS = """
SELECT dataset_key, tier FROM dataset_policy WHERE dataset_key IN (:keys) AND tier <> 'optional'
"""
_CHANGES = {"schema": _SCHEMA, "code": _CODE}
_DATASET = ("dataset_namespace", "dataset")

# Files that compaction or retention will delete take room as well.
_LAKE = "SELECT coalesce(sum(bytes), 0), coalesce(sum(files), 0) FROM lake_folder"
_POSTGRES = "SELECT pg_database_size(current_database())"


class CachedMetrics:
    """Metrics that a periodic job renews. A scrape waits for none of them."""

    def __init__(self, make: Callable[[], list[Metric]]) -> None:
        self._make = make
        self._cached: list[Metric] = []

    def current(self) -> list[Metric]:
        """Return the newest metrics; none before the first run of the job or after a failed one."""
        return self._cached

    def drop(self) -> None:
        """Forget the metrics."""
        self._cached = []

    def renew(self) -> None:
        """Compute the metrics; drop the old ones on an error, as they may be of another day."""
        made: list[Metric] = []
        try:
            made = self._make()
        finally:
            self._cached = made


class _Found(msgspec.Struct, frozen=True):
    """Dataset with a recent change, its time and its labels."""

    key: int
    name: tuple[str, str]
    at: int
    labels: tuple[str, ...]


def recent_figures(reader: CatalogReader, now: datetime) -> Iterator[Metric]:
    """Yield the newest of each kind; a reader of a dataset is counted once, by tier."""
    since = to_micros(now - timedelta(days=CHANGE_DAYS))
    changes = [
        one for kind, sql in _CHANGES.items() for one in _found(reader, sql, since, labels=(kind,))
    ]
    failures = _found(reader, _FAILED, to_micros(now - timedelta(hours=FAILED_HOURS)))
    name = "lineage_recent_change_timestamp_seconds"
    text = f"Newest change of a dataset's schema or of the code that writes it, {CHANGE_DAYS} days."
    yield _instants(name, text, (*_DATASET, "change"), changes)
    name = "lineage_failed_run_timestamp_seconds"
    text = f"Newest failed run of a dataset not written since; {FAILED_HOURS} hours."
    yield _instants(name, text, (*_DATASET, "job_namespace", "job_name"), failures)
    yield _consumers(reader, {one.key: one.name for one in [*changes, *failures]})


def _found(
    reader: CatalogReader, sql: str, since: int, labels: tuple[str, ...] = ()
) -> list[_Found]:
    rows = reader.rows(sql, {"since": since, "most": MOST_LISTED})
    return [
        _Found(row.dataset_key, (row.namespace, row.name), row.at, (*labels, *_job_of(row)))
        for row in rows
    ]


def _job_of(row: Row) -> tuple[str, ...]:
    """Return the job of a failed run, as labels; empty for a change."""
    return (row.job_namespace, row.job_name) if hasattr(row, "job_name") else ()


def _instants(name: str, text: str, labels: tuple[str, ...], found: list[_Found]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=labels)
    for one in found:
        family.add_metric((*one.name, *one.labels), one.at / SECOND_MICROS)
    return family


def _consumers(reader: CatalogReader, datasets: dict[int, tuple[str, str]]) -> Metric:
    family = GaugeMetricFamily(
        "lineage_dataset_consumers",
        "Downstream datasets of a dataset that changed or failed.",
        labels=(*_DATASET, "tier"),
    )
    for key, name in datasets.items():
        counts = _tiers_below(reader, key)
        for tier in TIERS:
            family.add_metric((*name, tier), float(counts[tier]))
    return family


def _tiers_below(reader: CatalogReader, key: int) -> Counter[str]:
    walk = CatalogWalk(reader, NEXT["downstream"], EVERYTHING).walked([key], MOST_DEPTH)
    below = walk.keys[1:]
    counts = Counter(tier for _, tier in rows_for(reader, _TIERS, below))
    counts[TIERS[-1]] = len(below) - counts.total()
    return counts


def size_figures(reader: CatalogReader, settings: Settings) -> Iterator[Metric]:
    """Return the bytes of the catalog, and the bytes and files of the lake by its manifest."""
    bytes_ = float(_catalog_bytes(reader, settings))
    yield GaugeMetricFamily("lineage_catalog_bytes", "Size of the catalog.", value=bytes_)
    size, files = map(float, reader.rows(_LAKE)[0])
    yield GaugeMetricFamily("lineage_lake_bytes", "Size of the lake.", value=size)
    text = "Number of files in the lake; compaction reduces it."
    yield GaugeMetricFamily("lineage_lake_files", text, value=files)


def _catalog_bytes(reader: CatalogReader, settings: Settings) -> int:
    if not settings.catalog.startswith("sqlite"):
        return int(reader.rows(_POSTGRES)[0][0])
    pages, size = (int(reader.rows(f"PRAGMA {name}")[0][0]) for name in ("page_count", "page_size"))
    return pages * size
