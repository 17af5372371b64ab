"""Jobs that a run belongs to: its root job, and the job that people know below the root.

A run of dbt or Airflow has a parent: `dbt run` or a DAG run. Its own job is the model or the task.
Spark names the job of each write after its application and its output, so that the job that people
know is the application. An engine names the job of a query after its text; its parent has the name.
"""

from typing import Final, NamedTuple

from lineage.names.keys import NAME_BYTES, shorten_or_none
from slis.stream.reading.openlineage import Event, FullJob, Job, ParentRun, RootRun, Run

SPARK: Final = "SPARK"
_APPLICATION: Final = "APPLICATION"
# Kinds of job (`jobType.jobType`) that are a part of their parent's run.
_QUERIES: Final = ("QUERY", "SQL")
_NO_JOB, _NO_ROOT, _NO_RUN = Job(), RootRun(), Run()


class RunJobs(NamedTuple):
    """Root run and root job of a run, and its leaf job, which is null where it is the root.

    `parent_run_id` is null of an event without the parent facet: what it says of the root is not
    to be used where another event of its run has one.
    """

    root_run_id: str | None
    root_job_namespace: str | None
    root_job_name: str | None
    leaf_job_namespace: str | None
    leaf_job_name: str | None
    parent_run_id: str | None


def own_name(job: Job, integration: str | None, job_type: str | None) -> str | None:
    """Return the job's own name; for a part of a Spark application, the application's name.

    No other event of the run can change it: clients send the parent facet with some events only.
    """
    if job.name is not None and integration == SPARK and job_type != _APPLICATION:
        return job.name.partition(".")[0]
    return job.name


def jobs_of(event: Event, own: Job, integration: str | None, job_type: str | None) -> RunJobs:
    """Return the jobs of an event's run.

    Args:
        event: of the run.
        own: the job, by its own name.
        integration: of the job, in capital letters.
        job_type: of the job, in capital letters.
    """
    run = event.run or _NO_RUN
    parent = run.facets.parent if run.facets else None
    if parent is None:
        return RunJobs(shorten_or_none(run.run_id), *_bounded(own), None, None, None)
    above = parent.root or _NO_ROOT
    root = _bounded(_first(above.job, parent.job, own))
    leaf = _bounded(_leaf_job(event.job or FullJob(), own, parent, integration, job_type))
    run_ids = (above.run, parent.run, run)
    root_run_id = next((one.run_id for one in run_ids if one and one.run_id is not None), None)
    parent_run_id = parent.run.run_id if parent.run else None
    return RunJobs(
        shorten_or_none(root_run_id),
        *root,
        *((None, None) if leaf == root or leaf[1] is None else leaf),
        shorten_or_none(parent_run_id),
    )


def _first(*jobs: Job | None) -> Job:
    """Return the first namespace and the first name that are given."""
    namespace = name = None
    for job in jobs:
        if job is not None:
            namespace = job.namespace if namespace is None else namespace
            name = job.name if name is None else name
    return Job(namespace, name)


def _leaf_job(
    job: Job, own: Job, parent: ParentRun, integration: str | None, job_type: str | None
) -> Job:
    """Return the parent of a query, and of what Spark names after its parent; else the own job."""
    above = parent.job or _NO_JOB
    is_query = job_type in _QUERIES
    is_named_after = None not in (job.name, above.name) and str(job.name).startswith(
        f"{above.name}."
    )
    if is_query or (integration == SPARK and is_named_after):
        return _first(above, own)
    return own


def _bounded(job: Job) -> tuple[str | None, str | None]:
    return shorten_or_none(job.namespace, NAME_BYTES), shorten_or_none(job.name, NAME_BYTES)
