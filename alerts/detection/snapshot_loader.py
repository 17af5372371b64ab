"""Loader of the lineage snapshot: datasets, current edges and failed runs of the catalog.

The whole catalog is read, by columns, and only while something is wrong: `docs/incidents.md` has
the figures.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from alerts.detection.bad_datasets import FailedRuns, load_failures
from alerts.incidents.affected_datasets import OwnerNumbers
from alerts.root_cause.snapshot import (
    DATASET_RECORD,
    NEVER,
    NO_KEY,
    EdgeArrays,
    LineageSnapshot,
    Rows,
    build_snapshot,
)
from lineage import states
from lineage.catalog.queries import TIER_IN_FORCE, is_listed
from lineage.names import keys
from lineage.process.clock import DAY_MICROS, SECOND_MICROS
from lineage.states import BAD, GOOD, LOST_AFTER_DURATIONS, TIER_RANKS, UNKNOWN

_DATASETS = f"""
    SELECT d.dataset_key AS dataset_key, a.last_job_namespace AS job_namespace,
        a.last_job_name AS job_name, coalesce(a.last_written_at, 0) AS written_at,
        coalesce(a.last_failed_at, 0) AS failed_at, coalesce(a.last_started_at, 0) AS started_at,
        l.cadence_seconds AS cadence_seconds, l.duration_seconds AS duration_seconds,
        {TIER_IN_FORCE} AS tier, coalesce(p.is_source, :no) AS is_source,
        CASE WHEN one.state <> 'bad' OR one.was_good THEN one.state END AS coverage,
        two.state AS freshness, a.last_written_at + two.limit_seconds * 1e6 AS deadline_at,
        coalesce(a.last_write_root_run_id, '') AS run_id, coalesce(p.owner, '') AS owner
    FROM dataset d
    LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
    LEFT JOIN dataset_limit l ON l.dataset_key = d.dataset_key
    LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
    LEFT JOIN dataset_state one ON one.dataset_key = d.dataset_key
        AND one.sli = '{states.COVERAGE.id}'
    LEFT JOIN dataset_state two ON two.dataset_key = d.dataset_key
        AND two.sli = '{states.FRESHNESS.id}'
    WHERE {is_listed()}
    ORDER BY d.dataset_key
"""  # noqa: S608 - constants only
# As of the newest good write of the downstream dataset, which is before things went wrong: an edge
# that was not seen for three of its own usual intervals before that is no longer in use.
_EDGES = """
    SELECT e.upstream_key, e.downstream_key, e.job_key FROM edge e
    LEFT JOIN dataset_activity a ON a.dataset_key = e.downstream_key
    WHERE e.last_reported_at IS NULL OR a.last_written_at IS NULL
    OR e.last_seen_at >= a.last_written_at - 3 * CASE
        WHEN e.runs > 1 AND (e.last_seen_at - e.first_seen_at) / (e.runs - 1) > :day
        THEN (e.last_seen_at - e.first_seen_at) / (e.runs - 1) ELSE :day END
"""
_EVALUATED = frozenset({GOOD, BAD, UNKNOWN})
_LIMIT_COUNTS = frozenset({BAD, UNKNOWN})  # states in which a limit that has passed was missed

_Jobs = dict[int, tuple[str, str]]
_Pair = tuple[int, int]
_Columns = Mapping[str, Sequence[Any]]  # by name, in the order of the datasets


class CatalogSnapshot(msgspec.Struct, frozen=True, eq=False):
    """Lineage snapshot, with the names behind its numbers.

    Attributes:
        graph: datasets and edges, as `roots.find_faults` takes them.
        jobs: namespace and name, by job key of a dataset.
        owners: of the datasets.
        errors: of the newest failed runs that reported one, by run id.
    """

    graph: LineageSnapshot
    jobs: _Jobs
    owners: OwnerNumbers
    errors: Mapping[str, str] = {}


def load_snapshot(
    connection: Connection, as_of: int, declared: Iterable[_Pair] = ()
) -> CatalogSnapshot:
    """Load the snapshot as of the newest evaluation and the batches since.

    Args:
        connection: of the catalog, in one read transaction.
        as_of: of the newest evaluation, µs.
        declared: edges of the policy: a job that reports no inputs reads them all the same.
    """
    columns = _load_columns(connection)
    edges = _load_edges(connection, declared)
    rows, jobs = _build_rows(columns)
    is_due = _is_due(rows, as_of)
    rows["is_observable"] &= ~is_due
    started = np.array(columns["started_at"], dtype=np.int64)
    rows["lost_at"] = np.where(is_due, _lost_at(rows, started, as_of), NEVER)
    rows["deadline_at"][_is_waived(rows, columns["freshness"], as_of)] = NEVER
    failed = load_failures(connection, _failed_keys(rows))
    _set_failures(rows, failed, jobs)
    _set_next_reads(rows, started, edges, as_of)
    run_ids = {key: failure.run_id for key, failure in failed.items()}
    errors = {failure.run_id: failure.error for failure in failed.values() if failure.error}
    graph = build_snapshot(rows, edges, run_ids)
    return CatalogSnapshot(graph, jobs, _number_owners(columns), errors)


def _load_columns(connection: Connection) -> _Columns:
    result = connection.execute(text(_DATASETS), {"no": False})
    names = tuple(result.keys())
    rows = result.all()
    values = zip(*rows, strict=True) if rows else ((),) * len(names)
    return dict(zip(names, values, strict=True))


def _load_edges(connection: Connection, declared: Iterable[_Pair]) -> EdgeArrays:
    found = connection.execute(text(_EDGES), {"day": DAY_MICROS}).all()
    flat = np.fromiter((key for row in found for key in row), np.int64, 3 * len(found))
    unseen = sorted({*declared}.difference((up, down) for up, down, _ in found))
    added = np.array([(*pair, NO_KEY) for pair in unseen], dtype=np.int64)
    return EdgeArrays(*np.concatenate([flat.reshape(-1, 3), added.reshape(-1, 3)]).T.copy())


def _build_rows(columns: _Columns) -> tuple[Rows, _Jobs]:
    rows = np.zeros(len(columns["dataset_key"]), dtype=DATASET_RECORD)
    rows["key"] = columns["dataset_key"]
    rows["job_key"], jobs = _number_jobs(columns["job_namespace"], columns["job_name"])
    rows["last_written_at"], rows["failed_at"] = columns["written_at"], columns["failed_at"]
    for name in ("cadence_seconds", "duration_seconds"):
        rows[name] = np.array(columns[name], dtype=np.float64)  # None becomes nan
    rows["tier"] = [TIER_RANKS[tier] for tier in columns["tier"]]
    rows["is_source"] = columns["is_source"]
    states = list(zip(columns["coverage"], columns["freshness"], strict=True))
    rows["is_observable"] = [not _EVALUATED.isdisjoint(pair) for pair in states]
    rows["is_unknown"] = [UNKNOWN in pair for pair in states]
    rows["run"] = _number_names(columns["run_id"])
    deadline = np.array(columns["deadline_at"], dtype=np.float64)
    rows["deadline_at"] = np.where(np.isnan(deadline), NEVER, deadline)
    return rows, jobs


def _number_owners(columns: _Columns) -> OwnerNumbers:
    numbers = np.array(_number_names(columns["owner"]), dtype=np.int32)
    names = tuple(dict.fromkeys(name for name in columns["owner"] if name))
    # Numbers begin at 1, positions in `names` at 0; `NO_KEY` becomes `NO_OWNER`.
    return OwnerNumbers(np.array(columns["dataset_key"], dtype=np.int64), numbers - 1, names)


def _number_names(names: Iterable[str]) -> list[int]:
    """Return a number for each different name, `NO_KEY` for an empty one."""
    known = {"": NO_KEY}
    return [known.setdefault(name, len(known)) for name in names]


def _is_due(rows: Rows, as_of: int) -> NDArray[np.bool_]:
    """Return which datasets were not written for more than a cadence.

    Before its limit has passed nobody knows whether such a dataset stopped. A dataset downstream
    may have a shorter limit, and be bad before it.
    """
    due_at: NDArray[np.float64] = rows["last_written_at"] + rows["cadence_seconds"] * SECOND_MICROS
    return (due_at < as_of) & (rows["last_written_at"] > 0)  # nan, no known cadence, is not less


def _lost_at(rows: Rows, started: NDArray[np.int64], as_of: int) -> NDArray[np.int64]:
    """Return when the newest run had to be considered lost; NEVER: it ended, or still may.

    A downstream dataset may be late before the dataset itself. Only datasets that are due count: a
    START without an end means nothing for a dataset that was written in time.
    """
    is_known = rows["duration_seconds"] > 0  # nan is not
    seconds = np.where(is_known, rows["duration_seconds"] * LOST_AFTER_DURATIONS, 0.0)
    lost_at = started + (seconds * SECOND_MICROS).astype(np.int64)
    is_running = (started > rows["last_written_at"]) & (started > rows["failed_at"])
    return np.asarray(np.where(is_known & is_running & (lost_at < as_of), lost_at, NEVER))


def _is_waived(rows: Rows, states: Sequence[str | None], as_of: int) -> NDArray[np.bool_]:
    """Return where the limit has passed and M2 does not count it, as for an idle stream."""
    counts = [state in _LIMIT_COUNTS for state in states]
    return (rows["deadline_at"] < as_of) & ~np.array(counts, dtype=np.bool_)


def _number_jobs(
    namespaces: Iterable[str | None], names: Iterable[str | None]
) -> tuple[list[int], _Jobs]:
    """Return the key of each dataset's job, and the jobs by key."""
    known: dict[tuple[str, str], int] = {}
    found = []
    for namespace, name in zip(namespaces, names, strict=True):
        pair = (namespace or "", name or "")
        if name and pair not in known:
            known[pair] = keys.key(*pair)
        found.append(known.get(pair, NO_KEY))
    return found, {key: pair for pair, key in known.items()}


def _failed_keys(rows: Rows) -> list[int]:
    failed: list[int] = rows["key"][rows["failed_at"] > rows["last_written_at"]].tolist()
    return failed


def _set_failures(rows: Rows, failed: dict[int, FailedRuns], jobs: _Jobs) -> None:
    """Set when each dataset's job first failed, and the job of a dataset that was never written."""
    rows["failed_at"][rows["failed_at"] <= rows["last_written_at"]] = NEVER
    found = list(failed)
    at = np.searchsorted(rows["key"], found)
    for position, key in zip(at.tolist(), found, strict=True):
        failure = failed[key]
        rows["failed_at"][position] = failure.first_at
        if rows["job_key"][position] == NO_KEY:
            job = keys.key(failure.job_namespace, failure.job_name)
            rows["job_key"][position] = job
            jobs[job] = (failure.job_namespace, failure.job_name)


def _set_next_reads(rows: Rows, started: NDArray[np.int64], edges: EdgeArrays, as_of: int) -> None:
    """Set when each dataset is read next: at the next expected start of a downstream job."""
    expected = _next_start(started, rows["cadence_seconds"], as_of)
    reads = np.full(len(rows), np.iinfo(np.int64).max)
    ups, downs = (_positions(rows, ends) for ends in (edges.upstream_keys, edges.downstream_keys))
    is_known = (ups >= 0) & (downs >= 0)
    is_known[is_known] = expected[downs[is_known]] != NEVER
    np.minimum.at(reads, ups[is_known], expected[downs[is_known]])
    is_read = reads < np.iinfo(np.int64).max
    rows["next_read_at"][is_read] = reads[is_read]


def _next_start(
    started: NDArray[np.int64], cadence: NDArray[np.float64], as_of: int
) -> NDArray[np.int64]:
    """Return the next start, whole cadences after the last; missed ones are skipped."""
    is_known = (started != NEVER) & ~np.isnan(cadence) & (cadence > 0)
    step = np.where(is_known, cadence, 1.0) * SECOND_MICROS
    missed = np.floor(np.maximum(0.0, as_of - started - step) / step)
    found = started + ((1.0 + missed) * step).astype(np.int64)
    return np.asarray(np.where(is_known, found, NEVER))


def _positions(rows: Rows, wanted: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the position of each key in `rows`, which are sorted by key; -1: not there."""
    if not len(rows):
        return np.full(len(wanted), -1, dtype=np.intp)
    at = np.minimum(np.searchsorted(rows["key"], wanted), len(rows) - 1)
    return np.asarray(np.where(rows["key"][at] == wanted, at, -1))
