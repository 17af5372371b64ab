"""Datasets that jobs read though nobody reported a write of them: the bad reads of M5."""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from lineage.catalog.queries import TIER_IN_FORCE
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row
from lineage.process.clock import to_micros
from lineage.states import BAD
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso
from service.queries.visibility import EVERYTHING, Visibility, sql_filter

MOST_UNSOURCED: Final = 1_000
MOST_HOURS: Final = 720
_MOST_READS = 200_000  # that are looked at: the newest
_MOST_JOBS = 5
_NEWEST = f"""
SELECT dataset_key, job_namespace, job_name, read_at FROM dataset_read
WHERE outcome = '{BAD}' AND read_at >= :since ORDER BY read_at DESC LIMIT :looked_at
"""  # noqa: S608 - a constant
_RANKED = f"""
SELECT d.dataset_key, d.namespace, d.name, {TIER_IN_FORCE} AS tier, p.owner, r.readers, r.reads,
  r.first_read_at, r.last_read_at
FROM (
  SELECT dataset_key, count(*) AS readers, sum(reads) AS reads, min(first_read_at) AS first_read_at,
    max(last_read_at) AS last_read_at
  FROM (
    SELECT dataset_key, count(*) AS reads, min(read_at) AS first_read_at,
      max(read_at) AS last_read_at
    FROM ({_NEWEST}) AS newest GROUP BY dataset_key, job_namespace, job_name
  ) AS by_job GROUP BY dataset_key
) AS r
JOIN dataset d ON d.dataset_key = r.dataset_key
LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
WHERE d.retired_at IS NULL AND {{seen}}
ORDER BY r.readers DESC, r.reads DESC, d.name, d.namespace LIMIT :most
"""  # noqa: S608 - constants only
_JOBS = f"""
SELECT DISTINCT dataset_key, job_namespace, job_name FROM ({_NEWEST}) AS newest
WHERE dataset_key IN (:keys) ORDER BY dataset_key, job_namespace, job_name
"""  # noqa: S608 - a constant
_COUNTED = f"SELECT count(*) FROM ({_NEWEST}) AS newest"  # noqa: S608 - a constant


class UnsourcedDataset(msgspec.Struct, frozen=True):
    """Dataset that was read before any known write of it.

    Attributes:
        readers: jobs that read it so; `reads` counts their runs.
        job_names: the first five of them, as `namespace/name`; empty for a token that may not see
            every namespace.
    """

    dataset_namespace: str
    dataset: str
    tier: str
    owner: str | None
    readers: int
    reads: int
    first_read_at: IsoTime | None
    last_read_at: IsoTime | None
    job_names: list[str]


class UnsourcedReads(msgspec.Struct, frozen=True):
    """Datasets with the most readers first, of the last `hours`."""

    datasets: list[UnsourcedDataset]
    hours: int
    partial: bool
    partial_reason: str | None


def unsourced_reads(
    reader: CatalogReader,
    now: datetime,
    visibility: Visibility = EVERYTHING,
    *,
    hours: int = 24,
    limit: int = 100,
) -> UnsourcedReads:
    """Return at most `limit` datasets that were read without a source in the last `hours`."""
    window = {"since": to_micros(now - timedelta(hours=hours)), "looked_at": _MOST_READS}
    condition, names = sql_filter(reader, visibility)
    values = {**window, **names, "most": limit + 1}
    rows = reader.rows(_RANKED.format(seen=condition), values)
    keys = [row.dataset_key for row in rows[:limit]]
    jobs = _job_names(reader, keys, window) if visibility.is_whole else {}
    cuts = [f"the {limit:,} datasets with the most readers"] if len(rows) > limit else []
    if reader.rows(_COUNTED, window)[0][0] >= _MOST_READS:
        cuts.append(f"the newest {_MOST_READS:,} reads")
    return UnsourcedReads(
        [_dataset(row, jobs.get(row.dataset_key, [])) for row in rows[:limit]],
        hours,
        partial=bool(cuts),
        partial_reason="; ".join(cuts) or None,
    )


def _job_names(
    reader: CatalogReader, keys: list[int], window: dict[str, int]
) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for key, namespace, name in rows_for(reader, _JOBS, keys, window):
        found.setdefault(key, []).append(f"{namespace}/{name}")
    return {key: names[:_MOST_JOBS] for key, names in found.items()}


def _dataset(row: Row, job_names: list[str]) -> UnsourcedDataset:
    return UnsourcedDataset(
        dataset_namespace=row.namespace,
        dataset=row.name,
        tier=row.tier,
        owner=row.owner,
        readers=row.readers,
        reads=int(row.reads),
        first_read_at=iso(row.first_read_at),
        last_read_at=iso(row.last_read_at),
        job_names=job_names,
    )
