"""SQL of how runs ended: of a run without an end, by the end of its root run.

Spark reports the end of a killed application, but not that of the write that was running. The alias
of a run is `r`, unless another one is given.
"""

from lineage.states import NEVER_ENDED


def is_ended_by(root: str, run: str = "r") -> str:
    """Return the SQL of whether a run cannot go on after the end of its root run.

    A DAG of Airflow may start an application of Spark without waiting for it. The application goes
    on after a DAG that completed; after one that failed, it was probably killed as well.
    """
    return f"""
        (coalesce({run}.processing_type, '') <> 'STREAMING'
            OR coalesce({run}.integration, '') = coalesce({root}.integration, ''))
        AND ({root}.failed_at IS NOT NULL OR coalesce({run}.job_type, '') <> 'APPLICATION'
            AND NOT EXISTS (
                SELECT 1 FROM run p
                WHERE p.run_id = {run}.parent_run_id AND p.run_key <> {root}.run_key
                    AND p.completed_at IS NULL AND p.failed_at IS NULL))
    """  # noqa: S608 - our own columns


def is_without_end(run: str = "r") -> str:
    """Return the SQL of whether a run began and its end is not known.

    RDD jobs are left out: the listener never reports their end.
    """
    return f"""
        {run}.started_at IS NOT NULL AND {run}.completed_at IS NULL AND {run}.failed_at IS NULL
        AND coalesce({run}.job_type, '') <> 'RDD_JOB'
    """


def is_abandoned_by(root: str, run: str = "r") -> str:
    """Return the SQL of whether a run without an end failed with its root run, which has ended."""
    return f"""
        {run}.run_key <> {root}.run_key
        AND {run}.last_event_at <= coalesce({root}.completed_at, {root}.failed_at)
        AND {is_ended_by(root, run)}
    """


def _abandoned_at(run: str) -> str:
    """Return the SQL of when the root run of a run without an end has ended."""
    # An expression has no index: the root run is found by its id alone.
    return f"""
        CASE WHEN {is_without_end(run)} THEN (
            SELECT max(coalesce(o.completed_at, o.failed_at)) FROM run o
            WHERE o.run_id = {run}.root_run_id AND o.root_run_id || '' = o.run_id
                AND {is_abandoned_by("o", run)}) END
    """  # noqa: S608 - our own columns


def failed_at(run: str = "r") -> str:
    """Return the SQL of when a run failed: a run without an end, when its root run ended."""
    return f"coalesce({run}.failed_at, {_abandoned_at(run)})"


def error_of(run: str = "r") -> str:
    """Return the SQL of a run's error, for the run with this alias."""
    never_ended = f"CASE WHEN {_abandoned_at(run)} IS NOT NULL THEN '{NEVER_ENDED}' END"
    return f"coalesce({run}.error_message, {never_ended})"
