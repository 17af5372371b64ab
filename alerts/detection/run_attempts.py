"""Failed runs, and the runs of the same job that may be their retries."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, text

from alerts.root_cause.retries import RunAttempt
from lineage.catalog.job_names import OF_JOB
from lineage.catalog.queries import LEAF_RUN_ID, leaf_job, split_batches

# A task of Airflow announces its tries; an application that it submitted does not.
_FAILED = text(
    f"""
    SELECT r.run_id, {LEAF_RUN_ID} AS leaf_run_id, r.job_namespace, r.job_name,
        {leaf_job("namespace")} AS leaf_namespace, {leaf_job("name")} AS leaf_name,
        coalesce(r.failed_at, r.last_event_at) AS failed_at, r.is_history,
        (SELECT max(o.retries_left) FROM run o
            WHERE o.run_id IN (r.run_id, r.parent_run_id, r.root_run_id)) AS retries_left
    FROM run r WHERE r.run_id IN :runs
    """  # noqa: S608 - our own columns
).bindparams(bindparam("runs", expanding=True))
# One job may write another dataset with each run: a mapped task, a loader of any table.
_WRITES_UNKNOWN, _WRITES_OTHERS, _WRITES_SAME = range(3)
_WRITES = "SELECT 1 FROM run_io io{} WHERE io.run_key = r.run_key AND io.direction = 'write'"
_OURS = _WRITES.format(" JOIN dataset d ON d.dataset_key = io.dataset_key")
# Without `+`, SQLite searches an index for each of the keys, for each output of each run.
_ATTEMPTS = text(
    f"""
    SELECT {LEAF_RUN_ID} AS leaf_run_id,
        CASE WHEN EXISTS ({_OURS} AND +d.canonical_key IN :keys) THEN {_WRITES_SAME}
            WHEN EXISTS ({_WRITES.format("")}) THEN {_WRITES_OTHERS} ELSE {_WRITES_UNKNOWN} END
            AS outputs,
        first_event_at, failed_at, completed_at, nominal_start_at, retries_left
    FROM run r WHERE {OF_JOB} ORDER BY first_event_at DESC LIMIT :most
    """  # noqa: S608 - our own columns
).bindparams(bindparam("keys", expanding=True))
_MAX_FAILED: Final = 5  # runs of one fault
_MAX_ATTEMPTS: Final = 500  # of one job
_MAX_KEYS: Final = 500  # of the datasets of a root


class FailedRun(msgspec.Struct, frozen=True):
    """Run that failed, with its job, its leaf job, and the retries that are announced."""

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
        """Return the job of the run, and the leaf job that it is a part of."""
        return {(self.job_namespace, self.job_name), (self.leaf_namespace, self.leaf_name)}


def load_failed(
    connection: Connection, run_ids: Iterable[str]
) -> Mapping[str, Sequence[FailedRun]]:
    """Load these runs by their id; a run that was deleted has none."""
    found = defaultdict[str, list[FailedRun]](list)
    for piece in split_batches(run_ids):
        for row in connection.execute(_FAILED, {"runs": piece}).mappings():
            found[row["run_id"]].append(FailedRun(**row))
    return found


def load_attempts(
    connection: Connection, failed: Sequence[FailedRun], keys: Sequence[int]
) -> list[RunAttempt]:
    """Load the newest runs of the jobs of failed runs that write the same datasets.

    The runs of one application are one. A run that names no output yet counts while it is under
    way and began after the failure.

    Args:
        connection: of the catalog.
        failed: the failed runs, the newest first.
        keys: of the datasets.
    """
    runs = failed[:_MAX_FAILED]
    found = dict[str, RunAttempt]()
    outputs = {each.leaf_run_id: _WRITES_SAME for each in runs}
    for namespace, name in sorted(set().union(*(each.jobs for each in runs))):
        snapshot = {"job_namespace": namespace, "job_name": name, "keys": keys[:_MAX_KEYS]}
        rows = connection.execute(_ATTEMPTS, snapshot | {"most": _MAX_ATTEMPTS})
        for run_id, names, attempt in _read_attempts(rows):
            found[run_id] = _merge_attempts(found.get(run_id), attempt)
            outputs[run_id] = max(outputs.get(run_id, _WRITES_UNKNOWN), names)
    _add_failed(found, runs)
    newest = max(each.failed_at for each in runs)
    return [each for run_id, each in found.items() if _is_attempt(each, outputs[run_id], newest)]


def _is_attempt(attempt: RunAttempt, outputs: int, failed_at: int) -> bool:
    is_rerun = attempt.is_running and attempt.began_at >= failed_at
    return outputs == _WRITES_SAME or (outputs == _WRITES_UNKNOWN and is_rerun)


def _add_failed(found: dict[str, RunAttempt], runs: Iterable[FailedRun]) -> None:
    for each in runs:
        # A write that never ended failed with its application; its own run does not say so.
        own = RunAttempt(
            began_at=each.failed_at, failed_at=each.failed_at, retries_left=each.retries_left
        )
        found[each.leaf_run_id] = _merge_attempts(found.get(each.leaf_run_id), own)


def _read_attempts(rows: Iterable[Any]) -> Iterator[tuple[str, int, RunAttempt]]:
    for row in rows:
        attempt = RunAttempt(
            began_at=row.first_event_at,
            failed_at=row.failed_at,
            completed_at=row.completed_at,
            nominal_at=row.nominal_start_at,
            retries_left=row.retries_left,
        )
        yield row.leaf_run_id, row.outputs, attempt


def _merge_attempts(one: RunAttempt | None, other: RunAttempt) -> RunAttempt:
    """Return both as one run, which failed where a part of it did."""
    if one is None:
        return other
    failed_at = _latest(one.failed_at, other.failed_at)
    return RunAttempt(
        began_at=min(one.began_at, other.began_at),
        failed_at=failed_at,
        completed_at=None if failed_at else _latest(one.completed_at, other.completed_at),
        nominal_at=one.nominal_at if other.nominal_at is None else other.nominal_at,
        retries_left=_latest(one.retries_left, other.retries_left),
    )


def _latest(*values: int | None) -> int | None:
    return max((each for each in values if each is not None), default=None)
