"""Failed runs to notify of before a dataset is bad, and those whose retry is expected."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import msgspec
import numpy as np
import structlog
from sqlalchemy import Connection, text

from alerts.detection.run_attempts import FailedRun, load_attempts, load_failed
from alerts.root_cause.faults import FaultGroup, FaultRoot
from alerts.root_cause.retries import RETRY_RULES, RetryWait, UsualFigures, find_retry_wait
from alerts.root_cause.severity import IncidentSeverity
from alerts.root_cause.snapshot import LineageSnapshot, Rows
from lineage.catalog.queries import FAILS
from lineage.graph.adjacency import positions_in
from lineage.process.clock import SECOND_MICROS
from lineage.states import PAGE

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
_MAX_FAULTS: Final = 200  # whose earlier retries are looked up at once
_MAX_COUNTED: Final = 1_000  # failing datasets, each second


_RunsById = Mapping[str, Sequence[FailedRun]]


class DueFailures(msgspec.Struct, frozen=True, eq=False):
    """Failures before a dataset is bad.

    Attributes:
        roots: people are to be notified of these now.
        retries: a retry of these is expected.
    """

    roots: frozenset[FaultRoot]
    retries: Mapping[FaultRoot, RetryWait]

    def is_waiting(self, group: FaultGroup, level: IncidentSeverity, now: int) -> bool:
        """Return whether no dataset is affected by a fault yet, and notifications wait."""
        faults = {each.fault for each in group.members}
        if not group.is_latent or not faults.isdisjoint(self.roots):
            return False
        # A page says that a rerun from now on is too late; one that is under way began before.
        holds = [self.retries[each] for each in faults if each in self.retries]
        return level.level != PAGE or all(each.can_meet(level.hit_at or 0, now) for each in holds)


def has_failing(connection: Connection, as_of: int) -> bool:
    """Return whether a critical or important dataset fails lately, or an incident says so."""
    since = {"since": as_of - round(RETRY_RULES.fresh_seconds * SECOND_MICROS)}
    found = connection.scalar(_FAILING, since) or connection.scalar(_NOTIFIED)
    return found is not None


def count_failing(connection: Connection) -> tuple[int, int | None]:
    """Return how many datasets fail, at most 1,000, and when the newest failed.

    Another answer than before means that a failure or a later write has landed.
    """
    count, newest = connection.execute(_COUNTED, {"most": _MAX_COUNTED}).one()
    return count, newest


def find_due_failures(
    connection: Connection,
    found: Iterable[FaultGroup],
    failures: Collection[FaultRoot],
    snapshot: LineageSnapshot,
    as_of: int,
) -> DueFailures:
    """Return the failures of which people are to be notified now, and those with a retry.

    All others are so old that they are history loaded late.

    Args:
        connection: of the catalog.
        found: groups that `roots.find_faults` returned.
        failures: their roots that `retries.select_failures` returned.
        snapshot: of the evaluation.
        as_of: of the evaluation, µs.
    """
    mine = sorted(
        (each for each in found if each.root in failures), key=lambda each: each.onset, reverse=True
    )
    failed = load_failed(connection, (run_id for each in mine for run_id in each.run_ids))
    known = [(each, _failed_runs(each, failed)) for each in mine]
    fresh = [(each, runs) for each, runs in known if not _is_history(each, runs, snapshot, as_of)]
    if len(fresh) > _MAX_FAULTS:
        _log.warning("retry_history_not_read", faults=len(fresh) - _MAX_FAULTS)
    holds = {
        each.root: _announced_wait(runs)
        if at >= _MAX_FAULTS
        else _find_wait(connection, each, runs, snapshot)
        for at, (each, runs) in enumerate(fresh)
    }
    retries = {root: each for root, each in holds.items() if each.until > as_of}
    return DueFailures(frozenset(holds.keys() - retries.keys()), retries)


def _failed_runs(group: FaultGroup, known: _RunsById) -> list[FailedRun]:
    """Return the failed runs of a root, the newest first."""
    runs = [each for run_id in group.run_ids for each in known.get(run_id, ())]
    return sorted(runs, key=lambda each: each.failed_at, reverse=True)


def _is_history(
    group: FaultGroup, failed: Sequence[FailedRun], snapshot: LineageSnapshot, as_of: int
) -> bool:
    """Return whether the failed runs are old, or were loaded as history."""
    # Retention deletes runs; the dataset keeps the time of its newest failure.
    newest = max(
        [*_rows(group, snapshot)["failed_at"].tolist(), *(each.failed_at for each in failed)]
    )
    is_old = newest < as_of - RETRY_RULES.fresh_seconds * SECOND_MICROS
    return is_old or (bool(failed) and all(each.is_history for each in failed))


def _find_wait(
    connection: Connection,
    group: FaultGroup,
    failed: Sequence[FailedRun],
    snapshot: LineageSnapshot,
) -> RetryWait:
    """Return until when a retry is awaited, by the earlier runs of the job."""
    if not failed:
        return RetryWait()
    attempts = load_attempts(connection, failed, group.root_keys)
    return find_retry_wait(attempts, _usual_figures(group, snapshot))


def _announced_wait(failed: Sequence[FailedRun]) -> RetryWait:
    """Return until when a retry that the failed run announces is awaited."""
    if not failed or not failed[0].retries_left:
        return RetryWait()
    return RetryWait(failed[0].failed_at + round(RETRY_RULES.retry_seconds * SECOND_MICROS))


def _usual_figures(group: FaultGroup, snapshot: LineageSnapshot) -> UsualFigures:
    """Return the shortest cadence and the longest duration of the datasets of a root."""
    rows = _rows(group, snapshot)
    cadences, durations = (rows[name].tolist() for name in ("cadence_seconds", "duration_seconds"))
    return UsualFigures(
        min((each for each in cadences if each > 0), default=None),
        max((each for each in durations if each > 0), default=None),
    )


def _rows(group: FaultGroup, snapshot: LineageSnapshot) -> Rows:
    """Return the datasets of a root."""
    places, _ = positions_in(snapshot.keys, np.array(group.root_keys, dtype=np.int64))
    return snapshot.datasets[places]
