"""Which run made an edge what it was at an instant: the newest that had written its end by then."""

from collections.abc import Iterable

import msgspec

from lineage.catalog.reader import Reader, Row, rows_for
from lineage.catalog.tables.runs import leaf_job
from lineage.states import run_state
from service.api.access.visibility import EVERYTHING, Visibility
from service.queries.lineage_at_shapes import EdgeRun, Touched
from service.queries.runs import settings_of
from service.queries.timestamps import iso, iso_of
from service.queries.visible import sql_filter

Edge = tuple[int, int]  # upstream key, downstream key
_Write = tuple[int, str, str, str]  # when, root run, namespace and name of the job

# By the index of writes, newest first: as a rule the first of them is of this edge.
_WRITES = """
SELECT e.upstream_key, e.downstream_key, e.runs, (
  SELECT w.root_run_id FROM dataset_write w
  WHERE w.dataset_key = e.downstream_key AND w.written_at <= :at AND EXISTS (
    SELECT 1 FROM edge_run x WHERE x.upstream_key = e.upstream_key
    AND x.downstream_key = e.downstream_key AND x.job_key = e.job_key
    AND x.root_run_id = w.root_run_id)
  ORDER BY w.written_at DESC LIMIT 1)
FROM edge e WHERE e.downstream_key IN (:keys) AND e.first_seen_at <= :at
"""
_WRITTEN_AT = """
SELECT root_run_id, dataset_key, MAX(written_at), job_namespace, job_name
FROM dataset_write WHERE root_run_id IN (:keys) AND written_at <= :at
GROUP BY root_run_id, dataset_key, job_namespace, job_name
"""
_LATEST = """
SELECT d.dataset_key, (SELECT w.written_at FROM dataset_write w
  WHERE w.dataset_key = d.dataset_key AND w.written_at <= :at ORDER BY w.written_at DESC LIMIT 1)
FROM dataset d WHERE d.dataset_key IN (:keys)
"""
_JOBS_OF_ROOTS = f"""
SELECT r.root_run_id, {leaf_job("namespace")}, {leaf_job("name")}, MIN(r.started_at),
  MAX(r.completed_at), MIN(r.failed_at), MAX(r.code_version), MAX(r.job_version),
  MAX(r.engine_version), MAX(r.spark_conf), MAX(r.parameters)
FROM run r WHERE r.root_run_id IN (:keys)
GROUP BY r.root_run_id, {leaf_job("namespace")}, {leaf_job("name")}
"""  # noqa: S608 - our own columns
_TOUCHED = """
SELECT r.root_run_id, d.canonical_key, io.direction, MAX(io.dataset_version), MAX(io.checksum),
  MAX(io.partition), COALESCE(MAX(io.rows), MAX(io.evidence_rows))
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
    """The run of each edge, and how many edges have none that is known."""

    runs: dict[Edge, EdgeRun]
    unknown: int


def edge_runs(
    reader: Reader, edges: Iterable[Edge], at: int, visibility: Visibility = EVERYTHING
) -> EdgeRuns:
    """Return the newest run of each edge at the time `at`.

    An edge of which every run failed, or is older than what the catalog keeps, has none; one that
    is only declared has none either, and is not counted as unknown.
    """
    wanted = set(edges)
    ends = sorted({downstream for _, downstream in wanted})
    rows = [row for row in rows_for(reader, _WRITES, ends, {"at": at}) if row[:2] in wanted]
    newest = _newest(reader, rows, at)
    runs = _reported(reader, newest, at, visibility)
    unknown = {(up, down) for up, down, count, _ in rows if count} - runs.keys()
    return EdgeRuns(runs, len(unknown))


def _newest(reader: Reader, rows: list[Row], at: int) -> dict[Edge, _Write]:
    """Return the newest write of each edge's end, whatever job made it."""
    roots = sorted({root for *_, root in rows if root})
    found = rows_for(reader, _WRITTEN_AT, roots, {"at": at})
    writes = sorted((at, root, *job, end) for root, end, at, *job in found)
    written = {(write[1], write[-1]): write[:-1] for write in writes}  # the last of each
    newest: dict[Edge, _Write] = {}
    for up, down, _, root in rows:
        if root:
            one = written[root, down]
            newest[up, down] = max(newest.get((up, down), one), one)
    return newest


def _reported(
    reader: Reader, newest: dict[Edge, _Write], at: int, visibility: Visibility
) -> dict[Edge, EdgeRun]:
    roots = sorted({write[1] for write in newest.values()})
    fields = {row[:3]: row for row in rows_for(reader, _JOBS_OF_ROOTS, roots)}
    named = rows_for(reader, _TOUCHED, roots, {"at": at})
    ends_of = sorted({down for _, down in newest})
    latest: dict[int, int | None] = dict(rows_for(reader, _LATEST, ends_of, {"at": at}))
    touched = {(row[0], row[1], row[2]): Touched(*row[3:]) for row in named}
    hidden = _hidden_roots(reader, roots, visibility)
    runs = {}
    for (up, down), (written_at, root, *job) in newest.items():
        if row := fields.get((root, *job)):
            ends = touched.get((root, up, "read")), touched.get((root, down, "write"))
            again_at = latest.get(down) or 0
            run = _run(row, (written_at, again_at), *ends)
            runs[up, down] = run if visibility.is_whole else _cut(run, is_named=root not in hidden)
    return runs


def _cut(run: EdgeRun, *, is_named: bool) -> EdgeRun:
    """Return the run without settings and names that may reveal hidden datasets."""
    name = run.job_name if is_named else None
    return msgspec.structs.replace(run, job_name=name, spark_conf={}, parameters={})


def _hidden_roots(reader: Reader, roots: list[str], visibility: Visibility) -> set[str]:
    """Those of these root runs that touched what may not be seen."""
    if visibility.is_whole:
        return set()
    condition, names = sql_filter(reader, visibility)
    return {row[0] for row in rows_for(reader, _HIDDEN.format(seen=condition), roots, names)}


def _run(
    row: Row, written: tuple[int, int], read: Touched | None, wrote: Touched | None
) -> EdgeRun:
    written_at, again_at = written
    root, namespace, name, started, completed, failed, *versions = row
    code_version, job_version, engine_version, spark_conf, parameters = versions
    return EdgeRun(
        root_run_id=root,
        job_namespace=namespace,
        job_name=name,
        status=run_state(started_at=started, completed_at=completed, failed_at=failed),
        started_at=iso(started),
        written_at=iso_of(written_at),
        written_again_at=iso_of(again_at) if again_at > written_at else None,
        code_version=code_version,
        job_version=job_version,
        engine_version=engine_version,
        spark_conf=settings_of(spark_conf),
        parameters=settings_of(parameters),
        read=read,
        wrote=wrote,
    )
