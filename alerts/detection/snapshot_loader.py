"""The estate as the catalog has it: datasets, the edges that are in force, and what failed.

Read as a whole, by columns, and only while something is wrong: `docs/incidents.md` has the figures.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from alerts.detection.dataset_failures import Failure, load_failures
from alerts.root_cause.snapshot import (
    DATASET,
    MICROS,
    NEVER,
    NO_KEY,
    Edges,
    LineageSnapshot,
    Rows,
    build_snapshot,
)
from lineage import keys
from lineage.adjacency import Keys, positions_in
from lineage.catalog.ranks import TIER
from lineage.states import BAD, GOOD, LOST_AFTER_DURATIONS, TIER_RANKS, UNKNOWN

_DATASETS = f"""
    SELECT d.dataset_key, a.last_job_namespace, a.last_job_name,
        coalesce(a.last_written_at, 0), coalesce(a.last_failed_at, 0),
        coalesce(a.last_started_at, 0), l.cadence_seconds, {TIER},
        coalesce(p.is_source, :no),
        CASE WHEN one.state <> 'bad' OR one.was_good THEN one.state END, two.state,
        a.last_written_at + two.limit_seconds * 1e6, coalesce(a.last_write_root_run_id, ''),
        coalesce(p.owner, ''), l.duration_seconds
    FROM dataset d
    LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
    LEFT JOIN dataset_limit l ON l.dataset_key = d.dataset_key
    LEFT JOIN dataset_policy p ON p.dataset_key = d.dataset_key
    LEFT JOIN dataset_state one ON one.dataset_key = d.dataset_key AND one.sli = 'M1'
    LEFT JOIN dataset_state two ON two.dataset_key = d.dataset_key AND two.sli = 'M2'
    WHERE d.canonical_key = d.dataset_key AND d.retired_at IS NULL
    ORDER BY d.dataset_key
"""  # noqa: S608 - constants only
# As at the newest good write of its end, which is how it was when things went wrong: an edge that
# was in none of three of its own usual intervals before that is of the past.
_EDGES = """
    SELECT e.upstream_key, e.downstream_key, e.job_key FROM edge e
    LEFT JOIN dataset_activity a ON a.dataset_key = e.downstream_key
    WHERE e.last_reported_at IS NULL OR a.last_written_at IS NULL
    OR e.last_seen_at >= a.last_written_at - 3 * CASE
        WHEN e.runs > 1 AND (e.last_seen_at - e.first_seen_at) / (e.runs - 1) > :day
        THEN (e.last_seen_at - e.first_seen_at) / (e.runs - 1) ELSE :day END
"""
_DAY = 86_400 * MICROS
_JUDGED = frozenset({GOOD, BAD, UNKNOWN})
_COUNTING = frozenset({BAD, UNKNOWN})  # states in which a limit that has passed was missed

NO_OWNER = -1  # one below the first: `NO_KEY` numbers an empty name

Jobs = dict[int, tuple[str, str]]
Pair = tuple[int, int]


class Owners(msgspec.Struct, frozen=True, eq=False):
    """Who owns each dataset, as a number: of 100,000 datasets that is a hundredth of the names.

    Attributes:
        keys: of the datasets, ascending.
        codes: of each, the position of its owner in `names`; `NO_OWNER`: it has none.
        names: of all owners.
    """

    keys: Keys
    codes: NDArray[np.int32]
    names: tuple[str, ...]

    def of(self, keys: Keys) -> NDArray[np.int32]:
        """Return the code of each dataset's owner."""
        places, is_known = positions_in(self.keys, keys)
        found = np.full(len(keys), NO_OWNER, dtype=np.int32)
        found[is_known] = self.codes[places]
        return found


class CatalogSnapshot(msgspec.Struct, frozen=True, eq=False):
    """The estate, and what its numbers stand for.

    Attributes:
        estate: as `alerts.root_cause.roots` takes it.
        jobs: namespace and name, by job key of a dataset.
        owners: of its datasets.
        errors: of the newest failed runs that reported one, by run id.
    """

    estate: LineageSnapshot
    jobs: Jobs
    owners: Owners
    errors: Mapping[str, str] = {}


def load_snapshot(
    connection: Connection, as_of: int, declared: Iterable[Pair] = ()
) -> CatalogSnapshot:
    """All of it, as the newest evaluation (of `as_of`, µs) and the batches since have it.

    Args:
        connection: of the catalog; one moment of it.
        as_of: of the newest evaluation.
        declared: edges of the policy: a job that tells nobody what it reads reads all the same.
    """
    columns = _load_columns(connection)
    edges = _load_edges(connection, declared)
    rows, jobs = _build_rows(columns)
    is_due = _is_due(rows, as_of)
    rows["is_observable"] &= ~is_due
    started = np.array(columns[5], dtype=np.int64)
    rows["lost_at"] = np.where(is_due, _lost_at(rows, started, as_of), NEVER)
    rows["deadline_at"][_is_waived(rows, columns[10], as_of)] = NEVER
    failed = load_failures(connection, _failed_keys(rows))
    _set_failures(rows, failed, jobs)
    _set_next_reads(rows, started, edges, as_of)
    run_ids = {key: failure.run_id for key, failure in failed.items()}
    errors = {failure.run_id: failure.error for failure in failed.values() if failure.error}
    return CatalogSnapshot(
        build_snapshot(rows, edges, run_ids), jobs, _number_owners(columns), errors
    )


def _load_columns(connection: Connection) -> list[Sequence[Any]]:
    found = connection.execute(text(_DATASETS), {"no": False}).all()
    return list(zip(*found, strict=True)) or [()] * 15


def _load_edges(connection: Connection, declared: Iterable[Pair]) -> Edges:
    found = connection.execute(text(_EDGES), {"day": _DAY}).all()
    flat = np.fromiter((key for row in found for key in row), np.int64, 3 * len(found))
    unseen = sorted({*declared}.difference((up, down) for up, down, _ in found))
    told = np.array([(*pair, NO_KEY) for pair in unseen], dtype=np.int64)
    return Edges(*np.concatenate([flat.reshape(-1, 3), told.reshape(-1, 3)]).T.copy())


def _build_rows(columns: list[Sequence[Any]]) -> tuple[Rows, Jobs]:
    rows = np.zeros(len(columns[0]), dtype=DATASET)
    rows["key"], (rows["job_key"], jobs) = columns[0], _number_jobs(columns[1], columns[2])
    rows["last_written_at"], rows["failed_at"] = columns[3], columns[4]
    rows["cadence_seconds"] = np.array(columns[6], dtype=np.float64)  # None is nan
    rows["duration_seconds"] = np.array(columns[14], dtype=np.float64)
    rows["tier"] = [TIER_RANKS[tier] for tier in columns[7]]
    rows["is_source"] = columns[8]
    rows["is_observable"] = [
        one in _JUDGED or two in _JUDGED for one, two in zip(columns[9], columns[10], strict=True)
    ]
    rows["is_unknown"] = [UNKNOWN in pair for pair in zip(columns[9], columns[10], strict=True)]
    rows["run"] = _numbers(columns[12])
    deadline = np.array(columns[11], dtype=np.float64)
    rows["deadline_at"] = np.where(np.isnan(deadline), NEVER, deadline)
    return rows, jobs


def _number_owners(columns: list[Sequence[Any]]) -> Owners:
    numbers = np.array(_numbers(columns[13]), dtype=np.int32)
    names = tuple(dict.fromkeys(name for name in columns[13] if name))
    return Owners(np.array(columns[0], dtype=np.int64), numbers - 1, names)


def _numbers(names: Iterable[str]) -> list[int]:
    """One for each name; NO_KEY where it is empty."""
    known = {"": NO_KEY}
    return [known.setdefault(name, len(known)) for name in names]


def _is_due(rows: Rows, as_of: int) -> NDArray[np.bool_]:
    """Not written for more than a cadence: before its limit nobody can say whether it stopped.

    What it makes late may have a shorter limit, and be bad before it.
    """
    due_at: NDArray[np.float64] = rows["last_written_at"] + rows["cadence_seconds"] * MICROS
    return (due_at < as_of) & (rows["last_written_at"] > 0)  # nan, no known cadence, is no less


def _lost_at(rows: Rows, started: NDArray[np.int64], as_of: int) -> NDArray[np.int64]:
    """Return when the newest run had to be taken for lost; NEVER: it ended, or it still may.

    What is made of it may be late before the dataset itself is. Asked of what is due alone: of what
    was written in time, a START without an end says nothing.
    """
    is_known = rows["duration_seconds"] > 0  # nan is not
    seconds = np.where(is_known, rows["duration_seconds"] * LOST_AFTER_DURATIONS, 0.0)
    lost_at = started + (seconds * MICROS).astype(np.int64)
    is_running = (started > rows["last_written_at"]) & (started > rows["failed_at"])
    return np.asarray(np.where(is_known & is_running & (lost_at < as_of), lost_at, NEVER))


def _is_waived(rows: Rows, states: Sequence[str | None], as_of: int) -> NDArray[np.bool_]:
    """Return whether the limit has passed and M2 says that it does not count: an idle stream."""
    counts = [state in _COUNTING for state in states]
    return (rows["deadline_at"] < as_of) & ~np.array(counts, dtype=np.bool_)


def _number_jobs(
    namespaces: Iterable[str | None], names: Iterable[str | None]
) -> tuple[list[int], Jobs]:
    """The key of each one's job, and what the keys stand for."""
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


def _set_failures(rows: Rows, failed: dict[int, Failure], jobs: Jobs) -> None:
    """A job that retries failed when it failed first; one that never wrote is known by its run."""
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


def _set_next_reads(rows: Rows, started: NDArray[np.int64], edges: Edges, as_of: int) -> None:
    """Somebody reads it when a job that is made of it is next expected to start."""
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
    """A cadence after the last; whoever missed that is expected by the cadences that follow."""
    is_known = (started != NEVER) & ~np.isnan(cadence) & (cadence > 0)
    step = np.where(is_known, cadence, 1.0) * MICROS
    missed = np.floor(np.maximum(0.0, as_of - started - step) / step)
    found = started + ((1.0 + missed) * step).astype(np.int64)
    return np.asarray(np.where(is_known, found, NEVER))


def _positions(rows: Rows, asked: NDArray[np.int64]) -> NDArray[np.intp]:
    """Where each stands in `rows`, which are by key; -1: nowhere."""
    if not len(rows):
        return np.full(len(asked), -1, dtype=np.intp)
    at = np.minimum(np.searchsorted(rows["key"], asked), len(rows) - 1)
    return np.asarray(np.where(rows["key"][at] == asked, at, -1))
