"""Evidence of other tables than a dataset's own, on which reasons rest: read, kept and compared."""

from collections.abc import Collection
from functools import reduce
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import Engine

from lineage.catalog.meta_keys import EVIDENCE_READ_AT
from lineage.catalog.queries import key_list
from lineage.states import COVERAGE, FRESHNESS
from slis.evaluation import applications_seen
from slis.evaluation.catalog_frames import read_frame
from slis.evaluation.dataset_states import differ

# An application without a listener, or one that Spark's settings do not name, is known by its name.
_JOB_SEEN_AT: Final = """
    CASE WHEN n.started_at > coalesce(x.started_at, 0) THEN n.started_at ELSE x.started_at END
"""
_LOGS_READ_AT: Final = f"""
    (SELECT CAST(value AS BIGINT) FROM meta WHERE name = '{EVIDENCE_READ_AT}')
"""  # noqa: S608 - a name of ours
# Few datasets: the others are not looked up.
_CREATED_AT: Final = """
    CASE WHEN a.dataset_key IS NOT NULL AND a.last_written_at IS NULL AND a.last_read_at IS NULL
        AND a.last_started_at IS NULL THEN (
            SELECT max(io.last_event_at) FROM dataset m JOIN run_io io
            ON io.dataset_key = m.dataset_key AND io.direction = 'write'
                AND io.lifecycle = 'CREATE'
            WHERE m.canonical_key = d.dataset_key) END
"""
COLUMNS: Final = {
    "job_seen_at": _JOB_SEEN_AT,
    "logs_read_at": _LOGS_READ_AT,
    "created_at": _CREATED_AT,
    "app_columns": applications_seen.COLUMNS,
}
_JOINS: Final = """
    LEFT JOIN (
        SELECT name, namespace, max(started_at) AS started_at FROM application
        WHERE namespace IS NOT NULL {of_jobs} GROUP BY name, namespace
    ) x ON x.name = a.last_job_name AND x.namespace = a.last_job_namespace
    LEFT JOIN (
        SELECT name, max(started_at) AS started_at FROM application
        WHERE namespace IS NULL {of_jobs} GROUP BY name
    ) n ON n.name = a.last_job_name
    LEFT JOIN ({newest_apps}) k ON k.dataset_key = d.dataset_key
"""
_OF_JOBS: Final = """
    AND name IN (SELECT last_job_name FROM dataset_activity WHERE dataset_key IN ({keys}))
"""
_EVIDENCE: Final = """
    SELECT d.dataset_key, {job_seen_at}, {logs_read_at}, {created_at}, {app_columns}
    FROM dataset d LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key {joins}
    WHERE d.dataset_key IN ({keys})
"""
_EVIDENCE_AS: Final = """
    dataset_key bigint, job_seen_at timestamp, logs_read_at timestamp, created_at timestamp,
    app_seen_at timestamp, app_summary string, app_lacks_listener boolean, app_checked_at timestamp
"""
_COMPARED: Final = ("job_seen_at", "created_at", "app_seen_at", "app_summary", "app_lacks_listener")
# Up to when logs were read and Kubernetes was watched. Both go on with each look, and say something
# new of a dataset only when they pass the time since which it is bad.
_LOOKED_UNTIL: Final = ("logs_read_at", "app_checked_at")
_BAD_SINCE: Final = {COVERAGE.id: "uncovered_since", FRESHNESS.id: "stale_since"}


def evidence_joins(keys: Collection[int] | None) -> str:
    """Return the joins of `COLUMNS` to a dataset `d` and its activity `a`.

    Args:
        keys: of the datasets; None: all.
    """
    of_jobs = "" if keys is None else _OF_JOBS.format(keys=key_list(keys))
    return _JOINS.format(of_jobs=of_jobs, newest_apps=applications_seen.newest(keys))


def read_evidence(engine: Engine, keys: Collection[int]) -> pa.Table:
    """Return the evidence on these datasets, as `read_rows` has it."""
    query = _EVIDENCE.format(keys=key_list(keys), joins=evidence_joins(keys), **COLUMNS)
    return read_frame(engine, query, _EVIDENCE_AS)


def keep_evidence(rows: pa.Table, judged: pa.Table) -> pa.Table:
    """Return the evidence in rows of `read_rows`, and since when each SLI of these is bad.

    Args:
        rows: of the datasets to watch.
        judged: `sli_schemas.STATES` of M1 and M2 with `bad_since`.
    """
    kept = rows.select(["dataset_key", *_COMPARED, *_LOOKED_UNTIL])
    for sli, name in _BAD_SINCE.items():
        own = judged.filter(pc.equal(judged["sli"], sli)).select(["dataset_key", "bad_since"])
        since = own.rename_columns(["dataset_key", name])
        kept = kept.join(since, "dataset_key", join_type="left outer")
    return kept


def find_changed(before: pa.Table, now: pa.Table) -> set[int]:
    """Return the datasets whose evidence says something new.

    Args:
        before: what `keep_evidence` returned.
        now: what `read_evidence` returns.
    """
    both = before.join(now, "dataset_key", join_type="left outer", right_suffix="_before")
    is_new = [differ(both, *_COMPARED)]
    for looked in _LOOKED_UNTIL:
        for since in _BAD_SINCE.values():
            is_past = [_is_past(both[name], both[since]) for name in (looked, f"{looked}_before")]
            is_new.append(pc.xor(*is_past))
    return set(both["dataset_key"].filter(reduce(pc.or_, is_new)).to_pylist())


def _is_past(looked_until: pa.ChunkedArray, since: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.fill_null(pc.greater(looked_until, since), fill_value=False)
