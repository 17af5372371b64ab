"""Runs, the differences between two of them, and jobs, as answers and as pages.

Jobs are for tokens that may see every namespace. The name of a job may name any dataset that it
makes, and a job without datasets has no namespace that a token could be held to.
"""

from typing import Annotated

from litestar import get
from litestar.params import FromPath, FromQuery, QueryParameter

from lineage.errors import InvalidRequestError
from service.api.routes.request import AnyRequest, Cursor, page, render_for_caller, session
from service.explorer.formatting import facts_of
from service.queries.dataset_lookup import resolve_dataset
from service.queries.diff import RunDiff, compare_runs, last_good_and_failed
from service.queries.jobs import MOST_LISTED_JOBS, JobPage, find_jobs
from service.queries.run_shapes import RecentRuns, RunAnswer
from service.queries.runs import NO_RUNS, recent_runs, runs_of_id
from service.queries.schema_changes import describe_changes

_Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="Maximum number of results.")]
_Text = Annotated[str | None, QueryParameter(max_length=4_096)]

_MostJobs = Annotated[
    int, QueryParameter(ge=1, le=MOST_LISTED_JOBS, description="Maximum number of jobs.")
]
_Contains = Annotated[
    str | None,
    QueryParameter(max_length=4_096, description=("Only job names that contain this text.")),
]


@get("/api/v1/runs/{run_id:str}", query="run", access="run", is_cut=True, sync_to_thread=True)
def get_run(request: AnyRequest, run_id: FromPath[str]) -> RunAnswer:
    """Return every run of this id, with inputs and outputs; two jobs may share an id."""
    with session(request) as asked:
        return runs_of_id(asked.reader, run_id, asked.visibility)


@get("/api/v1/runs", access="run", is_cut=True, sync_to_thread=True)
def get_runs(
    request: AnyRequest,
    *,
    dataset: FromQuery[str],
    dataset_namespace: FromQuery[str | None] = None,
    limit: _Limit = 50,
    cursor: Cursor = None,
) -> RecentRuns:
    """List the newest runs that read or wrote a dataset, with the times of their events."""
    if not dataset:
        return NO_RUNS
    with session(request) as asked:
        named = resolve_dataset(asked.reader, dataset, dataset_namespace, asked.visibility)
        return recent_runs(asked.reader, named, asked.visibility, limit=limit, cursor=cursor)


@page("/runs/{run_id:str}", access="run", is_cut=True)
def get_run_page(request: AnyRequest, run_id: FromPath[str]) -> str:
    """Show every run with this id: status, facts, datasets read and written."""
    with session(request) as asked:
        view = runs_of_id(asked.reader, run_id, asked.visibility)
    return render_for_caller(request, "run", view=view, run_id=run_id, facts_of=facts_of)


@page("/runs/{first:str}/diff/{second:str}", access="diff")
def get_diff_page(request: AnyRequest, first: FromPath[str], second: FromPath[str]) -> str:
    """Show the differences in code, engine, settings and datasets."""
    with session(request) as asked:
        view = compare_runs(asked.reader, first, second)
    return render_for_caller(request, "diff", view=view, describe_changes=describe_changes)


@get("/api/v1/diff", query="diff", access="diff", sync_to_thread=True)
def get_diff(
    request: AnyRequest,
    *,
    first: _Text = None,
    second: _Text = None,
    job: _Text = None,
    job_namespace: _Text = None,
) -> RunDiff:
    """Compare `first` and `second`, or a job's last success and the first failure after it."""
    with session(request) as asked:
        if job is not None and first is None and second is None:
            first, second = last_good_and_failed(asked.reader, job, job_namespace)
        if first is None or second is None:
            message = "first, second: give two runs, or a job"
            raise InvalidRequestError(message)
        return compare_runs(asked.reader, first, second)


@get("/api/v1/last-runs", access="run", sync_to_thread=True)
def get_jobs(
    request: AnyRequest,
    *,
    contains: _Contains = None,
    limit: _MostJobs = 100,
    cursor: Cursor = None,
) -> JobPage:
    """List jobs by their own names, each with its newest runs."""
    with session(request) as asked:
        return find_jobs(asked.reader, contains=contains, limit=limit, cursor=cursor)


@page("/jobs", access="run")
def get_jobs_page(request: AnyRequest, *, find: _Contains = None, cursor: Cursor = None) -> str:
    """Show jobs with their newest runs, found by a part of the name."""
    with session(request) as asked:
        found = find_jobs(asked.reader, contains=find or None, cursor=cursor)
    return render_for_caller(request, "jobs", view=found, find=find or "", is_first=cursor is None)
