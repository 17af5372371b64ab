"""Run of each edge at a past time: the newest that had written its end by then."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from lineage.catalog.queries import leaf_job
from lineage.catalog.reader import CatalogReader, rows_for
from lineage.catalog.rows import Row, convert_row, pairs_of
from lineage.states import run_state
from service.queries.descriptions import settings_of
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso, iso_of
from service.queries.visibility import EVERYTHING, Visibility, sql_filter

EdgeKeys = tuple[int, int]  # upstream key, downstream key


class Touched(msgspec.Struct, frozen=True):
    """Values that a run reported of a dataset that it read or wrote; null where it did not."""

    version: str | None
    checksum: str | None
    partition: str | None
    rows: int | None


class EdgeRun(msgspec.Struct, frozen=True):
    """Root run of an edge: all its runs together."""

    root_run_id: str
    job_namespace: str
    job_name: str | None  # null: the run touched what the token may not see
    status: str
    started_at: IsoTime | None
    written_at: IsoTime
    written_again_at: IsoTime | None  # the end's newest write by then, of a run without this edge
    code_version: str | None
    job_version: str | None
    engine_version: str | None
    spark_conf: dict[str, str]
    parameters: dict[str, str]
    read: Touched | None  # of the upstream end
    wrote: Touched | None  # of the downstream end


class _Write(NamedTuple):
    """Write of a dataset by a job of a root run; in the order of time."""

    written_at: int
    root_run_id: str
    job_namespace: str
    job_name: str


# By the index of writes, newest first: as a rule the first of them is of this edge.
_WRITES = """
SELECT e.upstream_key, e.downstream_key, e.runs, (
  SELECT w.root_run_id FROM dataset_write w
  WHERE w.dataset_key = e.downstream_key AND w.written_at <= :at AND EXISTS (
    SELECT 1 FROM edge_run x WHERE x.upstream_key = e.upstream_key
    AND x.downstream_key = e.downstream_key AND x.job_key = e.job_key
    AND x.root_run_id = w.root_run_id)
  ORDER BY w.written_at DESC LIMIT 1) AS root_run_id
FROM edge e WHERE e.downstream_key IN (:keys) AND e.first_seen_at <= :at
"""
_WRITTEN_AT = """
SELECT root_run_id, dataset_key, MAX(written_at) AS written_at, job_namespace, job_name
FROM dataset_write WHERE root_run_id IN (:keys) AND written_at <= :at
GROUP BY root_run_id, dataset_key, job_namespace, job_name
"""
_LATEST = """
SELECT d.dataset_key, (SELECT w.written_at FROM dataset_write w
  WHERE w.dataset_key = d.dataset_key AND w.written_at <= :at ORDER BY w.written_at DESC LIMIT 1)
FROM dataset d WHERE d.dataset_key IN (:keys)
"""
_JOBS_OF_ROOTS = f"""
SELECT r.root_run_id, {leaf_job("namespace")} AS job_namespace, {leaf_job("name")} AS job_name,
  MIN(r.started_at) AS started_at, MAX(r.completed_at) AS completed_at,
  MIN(r.failed_at) AS failed_at, MAX(r.code_version) AS code_version,
  MAX(r.job_version) AS job_version, MAX(r.engine_version) AS engine_version,
  MAX(r.spark_conf) AS spark_conf, MAX(r.parameters) AS parameters
FROM run r WHERE r.root_run_id IN (:keys)
GROUP BY r.root_run_id, {leaf_job("namespace")}, {leaf_job("name")}
"""  # noqa: S608 - our own columns
_TOUCHED = """
SELECT r.root_run_id, d.canonical_key, io.direction, MAX(io.dataset_version) AS version,
  MAX(io.checksum) AS checksum, MAX(io.partition) AS partition,
  COALESCE(MAX(io.rows), MAX(io.evidence_rows)) AS rows
FROM run r JOIN run_io io ON io.run_key = r.run_key JOIN dataset d ON d.dataset_key = io.dataset_key
WHERE r.root_run_id IN (:keys) AND io.first_event_at <= :at
GROUP BY r.root_run_id, d.canonical_key, io.direction
"""
_HIDDEN = """
SELECT DISTINCT r.root_run_id FROM run r JOIN run_io io ON io.run_key = r.run_key
JOIN dataset d ON d.dataset_key = io.dataset_key
WHERE r.root_run_id IN (:keys) AND NOT ({seen})
"""


class EdgeRuns(msgspec.Struct, frozen=True):
    """Run of each edge, and the number of edges without a known run."""

    runs: dict[EdgeKeys, EdgeRun]
    unknown: int


def edge_runs(
    reader: CatalogReader, edges: Iterable[EdgeKeys], at: int, visibility: Visibility = EVERYTHING
) -> EdgeRuns:
    """Return the newest run of each edge at the time `at`.

    An edge of which every run failed, or is older than what the catalog keeps, has none; one that
    is only declared has none either, and is not counted as unknown.
    """
    wanted = set(edges)
    ends = sorted({downstream for _, downstream in wanted})
    rows = [row for row in rows_for(reader, _WRITES, ends, {"at": at}) if _edge(row) in wanted]
    newest = _newest(reader, rows, at)
    runs = _reported(reader, newest, at, visibility)
    unknown = {_edge(row) for row in rows if row.runs} - runs.keys()
    return EdgeRuns(runs, len(unknown))


def _edge(row: Row) -> EdgeKeys:
    return row.upstream_key, row.downstream_key


def _newest(reader: CatalogReader, rows: list[Row], at: int) -> dict[EdgeKeys, _Write]:
    """Return the newest write of each edge's end, whatever job made it."""
    roots = sorted({row.root_run_id for row in rows if row.root_run_id})
    written: dict[tuple[str, int], _Write] = {}
    for row in rows_for(reader, _WRITTEN_AT, roots, {"at": at}):
        write = _Write(row.written_at, row.root_run_id, row.job_namespace, row.job_name)
        end = row.root_run_id, row.dataset_key
        written[end] = max(written.get(end, write), write)
    newest: dict[EdgeKeys, _Write] = {}
    for row in rows:
        if row.root_run_id:
            one = written[row.root_run_id, row.downstream_key]
            newest[_edge(row)] = max(newest.get(_edge(row), one), one)
    return newest


def _reported(
    reader: CatalogReader, newest: dict[EdgeKeys, _Write], at: int, visibility: Visibility
) -> dict[EdgeKeys, EdgeRun]:
    roots = sorted({write.root_run_id for write in newest.values()})
    fields = {
        (row.root_run_id, row.job_namespace, row.job_name): row
        for row in rows_for(reader, _JOBS_OF_ROOTS, roots)
    }
    ends_of = sorted({down for _, down in newest})
    latest = pairs_of(rows_for(reader, _LATEST, ends_of, {"at": at}))
    touched = {
        (row.root_run_id, row.canonical_key, row.direction): convert_row(Touched, row)
        for row in rows_for(reader, _TOUCHED, roots, {"at": at})
    }
    hidden = _hidden_roots(reader, roots, visibility)
    runs = {}
    for (up, down), write in newest.items():
        root = write.root_run_id
        if row := fields.get((root, write.job_namespace, write.job_name)):
            ends = touched.get((root, up, "read")), touched.get((root, down, "write"))
            run = _run(row, (write.written_at, latest.get(down) or 0), *ends)
            runs[up, down] = run if visibility.is_whole else _cut(run, is_named=root not in hidden)
    return runs


def _cut(run: EdgeRun, *, is_named: bool) -> EdgeRun:
    """Return the run without settings and names that may reveal hidden datasets."""
    name = run.job_name if is_named else None
    return msgspec.structs.replace(run, job_name=name, spark_conf={}, parameters={})


def _hidden_roots(reader: CatalogReader, roots: list[str], visibility: Visibility) -> set[str]:
    """Return those of these root runs that touched a dataset that may not be seen."""
    if visibility.is_whole:
        return set()
    condition, names = sql_filter(reader, visibility)
    return {row[0] for row in rows_for(reader, _HIDDEN.format(seen=condition), roots, names)}


def _run(
    row: Row, written: tuple[int, int], read: Touched | None, wrote: Touched | None
) -> EdgeRun:
    written_at, again_at = written
    status = run_state(
        started_at=row.started_at, completed_at=row.completed_at, failed_at=row.failed_at
    )
    return EdgeRun(
        root_run_id=row.root_run_id,
        job_namespace=row.job_namespace,
        job_name=row.job_name,
        status=status,
        started_at=iso(row.started_at),
        written_at=iso_of(written_at),
        written_again_at=iso_of(again_at) if again_at > written_at else None,
        code_version=row.code_version,
        job_version=row.job_version,
        engine_version=row.engine_version,
        spark_conf=settings_of(row.spark_conf),
        parameters=settings_of(row.parameters),
        read=read,
        wrote=wrote,
    )
