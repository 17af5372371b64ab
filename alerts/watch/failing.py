"""Look up what failed runs of datasets that matter need: whether there are any, and retries."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
import structlog
from sqlalchemy import Connection, bindparam, text

from alerts.incidents.estate import MICROS, Estate, Rows
from alerts.incidents.failed_runs import RULES, Attempt, Hold, UsualFigures, find_hold
from alerts.incidents.faults import Cluster, Root
from alerts.incidents.severity import PAGE, Severity
from lineage.adjacency import positions_in
from lineage.catalog.job_names import OF_JOB
from lineage.catalog.pieces import pieces
from lineage.catalog.ranks import FAILS
from lineage.catalog.tables.runs import LEAF_RUN_ID, leaf_job

_log = structlog.get_logger(__name__)

_FAILING = text(f"""
    SELECT 1 FROM dataset_activity a
    JOIN dataset d ON d.dataset_key = a.dataset_key AND d.retired_at IS NULL
    JOIN dataset_policy p ON p.dataset_key = a.dataset_key AND p.tier IN ('critical', 'important')
    WHERE {FAILS} AND last_failed_at >= :since LIMIT 1
""")  # noqa: S608 - a constant
_COUNTED = text(f"""
    SELECT count(*), max(last_failed_at) FROM (
        SELECT last_failed_at FROM dataset_activity WHERE {FAILS}
        ORDER BY last_failed_at DESC LIMIT :most) AS newest
""")  # noqa: S608 - a constant
# An incident stays open however old the failure is.
_NOTIFIED = text("""
    SELECT 1 FROM incident
    WHERE is_remembered AND root_kind = 'failed' AND state <> 'resolved' LIMIT 1
""")
# A task of Airflow announces its tries; an application that it submitted does not.
_FAILED = text(
    f"""
    SELECT r.run_id, {LEAF_RUN_ID}, r.job_namespace, r.job_name,
        {leaf_job("namespace")}, {leaf_job("name")},
        coalesce(r.failed_at, r.last_event_at), r.is_history,
        (SELECT max(o.retries_left) FROM run o
            WHERE o.run_id IN (r.run_id, r.parent_run_id, r.root_run_id))
    FROM run r WHERE r.run_id IN :runs
    """  # noqa: S608 - our own columns
).bindparams(bindparam("runs", expanding=True))
# One job may write another dataset with each run: a mapped task, a loader of any table.
_NAMES_NONE, _NAMES_OTHERS, _NAMES_OURS = range(3)
_WRITES = "SELECT 1 FROM run_io io{} WHERE io.run_key = r.run_key AND io.direction = 'write'"
_OURS = _WRITES.format(" JOIN dataset d ON d.dataset_key = io.dataset_key")
# Without `+`, SQLite searches an index for each of the keys, for each output of each run.
_ATTEMPTS = text(
    f"""
    SELECT {LEAF_RUN_ID},
        CASE WHEN EXISTS ({_OURS} AND +d.canonical_key IN :keys) THEN {_NAMES_OURS}
            WHEN EXISTS ({_WRITES.format("")}) THEN {_NAMES_OTHERS} ELSE {_NAMES_NONE} END,
        first_event_at, failed_at, completed_at, nominal_start_at, retries_left
    FROM run r WHERE {OF_JOB} ORDER BY first_event_at DESC LIMIT :most
    """  # noqa: S608 - our own columns
).bindparams(bindparam("keys", expanding=True))
_MOST_FAULTS: Final = 200  # whose earlier retries are looked up at once
_MOST_COUNTED: Final = 1_000  # failing datasets, each second
_MOST_FAILED: Final = 5  # runs of one fault
_MOST_ATTEMPTS: Final = 500  # of one job
_MOST_KEYS: Final = 500  # of the datasets of a root


class _Failed(msgspec.Struct, frozen=True):
    run_id: str
    leaf_run_id: str
    job_namespace: str
    job_name: str
    leaf_namespace: str
    leaf_name: str
    failed_at: int
    is_history: bool
    retries_left: int | None

    @property
    def jobs(self) -> set[tuple[str, str]]:
        """The job of the run, and the leaf job that it is a part of."""
        return {(self.job_namespace, self.job_name), (self.leaf_namespace, self.leaf_name)}


_Known = Mapping[str, Sequence[_Failed]]


class DueFailures(msgspec.Struct, frozen=True, eq=False):
    """Failures before a dataset is bad.

    Attributes:
        roots: people are to be notified of these now.
        retries: a retry of these is expected.
    """

    roots: frozenset[Root]
    retries: Mapping[Root, Hold]

    def is_waiting(self, cluster: Cluster, level: Severity, now: int) -> bool:
        """Return whether nothing is bad by a fault, and nobody is to be notified of it yet."""
        faults = {each.fault for each in cluster.members}
        if not cluster.is_latent or not faults.isdisjoint(self.roots):
            return False
        # A page says that a rerun from now on is too late; one that is under way began before.
        holds = [self.retries[each] for each in faults if each in self.retries]
        return level.level != PAGE or all(each.can_meet(level.hit_at or 0, now) for each in holds)


def has_failing(connection: Connection, as_of: int) -> bool:
    """Return whether a critical or important dataset fails lately, or an incident says so."""
    since = {"since": as_of - round(RULES.fresh_seconds * MICROS)}
    found = connection.scalar(_FAILING, since) or connection.scalar(_NOTIFIED)
    return found is not None


def count_failing(connection: Connection) -> tuple[int, int | None]:
    """Return how many datasets fail, at most 1,000, and when the newest failed.

    Another answer than before means that a failure or a later write has landed.
    """
    count, newest = connection.execute(_COUNTED, {"most": _MOST_COUNTED}).one()
    return count, newest


def find_due(
    connection: Connection,
    found: Iterable[Cluster],
    failures: Collection[Root],
    given: Estate,
    as_of: int,
) -> DueFailures:
    """Return the failures of which people are to be notified now, and those with a retry.

    All others are so old that they are history loaded late.

    Args:
        connection: of the catalog.
        found: clusters, as `roots.clusters` has them.
        failures: their roots, as `failed_runs.select_failures` has them.
        given: the estate.
        as_of: of the evaluation, µs.
    """
    mine = sorted(
        (each for each in found if each.root in failures), key=lambda each: each.onset, reverse=True
    )
    failed = _load_failed(connection, (run_id for each in mine for run_id in each.run_ids))
    known = [(each, _failed_of(each, failed)) for each in mine]
    fresh = [(each, runs) for each, runs in known if not _is_history(each, runs, given, as_of)]
    if len(fresh) > _MOST_FAULTS:
        _log.warning("retry_history_not_read", faults=len(fresh) - _MOST_FAULTS)
    holds = {
        each.root: _hold_as_announced(runs)
        if at >= _MOST_FAULTS
        else _find_hold(connection, each, runs, given)
        for at, (each, runs) in enumerate(fresh)
    }
    retries = {root: each for root, each in holds.items() if each.until > as_of}
    return DueFailures(frozenset(holds.keys() - retries.keys()), retries)


def _load_failed(connection: Connection, run_ids: Iterable[str]) -> _Known:
    """Load these runs by their id; a run that was deleted has none."""
    found = defaultdict[str, list[_Failed]](list)
    for piece in pieces(run_ids):
        for row in connection.execute(_FAILED, {"runs": piece}):
            each = _Failed(*row)
            found[each.run_id].append(each)
    return found


def _failed_of(cluster: Cluster, known: _Known) -> list[_Failed]:
    """Return the failed runs of a root, the newest first."""
    runs = [each for run_id in cluster.run_ids for each in known.get(run_id, ())]
    return sorted(runs, key=lambda each: each.failed_at, reverse=True)


def _is_history(cluster: Cluster, failed: Sequence[_Failed], given: Estate, as_of: int) -> bool:
    """Return whether the failed runs are old, or were loaded as history."""
    # Retention deletes runs; the dataset keeps the time of its newest failure.
    newest = max(
        [*_rows(cluster, given)["failed_at"].tolist(), *(each.failed_at for each in failed)]
    )
    is_old = newest < as_of - RULES.fresh_seconds * MICROS
    return is_old or (bool(failed) and all(each.is_history for each in failed))


def _find_hold(
    connection: Connection, cluster: Cluster, failed: Sequence[_Failed], given: Estate
) -> Hold:
    """Return until when a retry is awaited, by the earlier runs of the job."""
    if not failed:
        return Hold()
    keys = cluster.root_keys[:_MOST_KEYS]
    attempts = _load_attempts(connection, failed[:_MOST_FAILED], keys)
    return find_hold(attempts, _usual_of(cluster, given))


def _hold_as_announced(failed: Sequence[_Failed]) -> Hold:
    """Return until when a retry that the failed run announces is awaited."""
    if not failed or not failed[0].retries_left:
        return Hold()
    return Hold(failed[0].failed_at + round(RULES.retry_seconds * MICROS))


def _load_attempts(
    connection: Connection, runs: Sequence[_Failed], keys: Sequence[int]
) -> list[Attempt]:
    """Load the newest runs of these jobs that write these datasets, one for each application.

    A run that names no output yet counts while it is under way and began after the failure.
    """
    found = dict[str, Attempt]()
    outputs = {each.leaf_run_id: _NAMES_OURS for each in runs}
    for namespace, name in sorted(set().union(*(each.jobs for each in runs))):
        given = {"job_namespace": namespace, "job_name": name, "keys": keys}
        rows = connection.execute(_ATTEMPTS, given | {"most": _MOST_ATTEMPTS})
        for run_id, names, attempt in _attempts(rows):
            found[run_id] = _join(found.get(run_id), attempt)
            outputs[run_id] = max(outputs.get(run_id, _NAMES_NONE), names)
    _add_failed(found, runs)
    newest = max(each.failed_at for each in runs)
    return [each for run_id, each in found.items() if _is_attempt(each, outputs[run_id], newest)]


def _is_attempt(attempt: Attempt, outputs: int, failed_at: int) -> bool:
    is_rerun = attempt.is_running and attempt.began_at >= failed_at
    return outputs == _NAMES_OURS or (outputs == _NAMES_NONE and is_rerun)


def _add_failed(found: dict[str, Attempt], runs: Iterable[_Failed]) -> None:
    for each in runs:
        # A write that never ended failed with its application; its own run does not say so.
        own = Attempt(
            began_at=each.failed_at, failed_at=each.failed_at, retries_left=each.retries_left
        )
        found[each.leaf_run_id] = _join(found.get(each.leaf_run_id), own)


def _attempts(rows: Iterable[Any]) -> Iterator[tuple[str, int, Attempt]]:
    for run_id, outputs, began_at, *said in rows:
        names = ("failed_at", "completed_at", "nominal_at", "retries_left")
        yield run_id, outputs, Attempt(began_at=began_at, **dict(zip(names, said, strict=True)))


def _join(one: Attempt | None, other: Attempt) -> Attempt:
    """Return both as one run, which failed where a part of it did."""
    if one is None:
        return other
    failed_at = _latest(one.failed_at, other.failed_at)
    return Attempt(
        began_at=min(one.began_at, other.began_at),
        failed_at=failed_at,
        completed_at=None if failed_at else _latest(one.completed_at, other.completed_at),
        nominal_at=one.nominal_at if other.nominal_at is None else other.nominal_at,
        retries_left=_latest(one.retries_left, other.retries_left),
    )


def _latest(*values: int | None) -> int | None:
    return max((each for each in values if each is not None), default=None)


def _usual_of(cluster: Cluster, given: Estate) -> UsualFigures:
    """Return the shortest cadence and the longest duration of the datasets of a root."""
    rows = _rows(cluster, given)
    cadences, durations = (rows[name].tolist() for name in ("cadence_seconds", "duration_seconds"))
    return UsualFigures(
        min((each for each in cadences if each > 0), default=None),
        max((each for each in durations if each > 0), default=None),
    )


def _rows(cluster: Cluster, given: Estate) -> Rows:
    """Return the datasets of a root."""
    places, _ = positions_in(given.keys, np.array(cluster.root_keys, dtype=np.int64))
    return given.datasets[places]
