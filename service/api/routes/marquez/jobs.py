"""Jobs and their runs, as Marquez answers them."""

from typing import Annotated, Literal

from litestar import get
from litestar.params import FromPath, QueryParameter

from service.api.routes.marquez.parameters import DEFAULT_LIMIT, Offset, PageLimit, decode_segments
from service.api.routes.request import AnyRequest, session
from service.queries.marquez_api import jobs as answers
from service.queries.marquez_api.facets import facets_of_run
from service.queries.marquez_api.lineage_shapes import RunState
from service.queries.marquez_api.paging import PageRange
from service.queries.marquez_api.runs import run_of_id
from service.queries.marquez_api.shapes import Jobs, MarquezJob, MarquezRun, MarquezRunFacets, Runs

_States = Annotated[
    list[Literal["NEW", "RUNNING", "COMPLETED", "FAILED", "ABORTED", "OTHER"]] | None,
    QueryParameter(name="lastRunStates", description="States of the newest run; default: any."),
]
# The catalog counts an ABORT as FAIL, and a run without START as NEW.
_KNOWN: dict[str, RunState] = {
    "NEW": "NEW",
    "OTHER": "NEW",
    "RUNNING": "RUNNING",
    "COMPLETED": "COMPLETED",
    "FAILED": "FAILED",
    "ABORTED": "FAILED",
}


@get("/api/v1/jobs", access="jobs", is_cut=True, sync_to_thread=True)
def get_jobs(
    request: AnyRequest,
    *,
    last_run_states: _States = None,
    limit: PageLimit = DEFAULT_LIMIT,
    offset: Offset = 0,
) -> Jobs:
    """List all jobs, the one with the newest event first."""
    states = [_KNOWN[state] for state in last_run_states or ()]
    with session(request) as asked:
        page = PageRange(limit, offset)
        return answers.jobs_page(asked.reader, asked.visibility, page, states=states)


@get("/api/v1/namespaces/{job_namespace:str}/jobs", access="jobs", is_cut=True, sync_to_thread=True)
def get_namespace_jobs(
    request: AnyRequest,
    job_namespace: FromPath[str],
    *,
    last_run_states: _States = None,
    limit: PageLimit = DEFAULT_LIMIT,
    offset: Offset = 0,
) -> Jobs:
    """List the jobs of a namespace, the one with the newest event first."""
    states = [_KNOWN[state] for state in last_run_states or ()]
    with session(request) as asked:
        page = PageRange(limit, offset)
        return answers.jobs_page(
            asked.reader, asked.visibility, page, decode_segments(job_namespace), states
        )


@get(
    "/api/v1/namespaces/{job_namespace:str}/jobs/{job:str}",
    access="jobs",
    is_cut=True,
    sync_to_thread=True,
)
def get_job(request: AnyRequest, job_namespace: FromPath[str], job: FromPath[str]) -> MarquezJob:
    """Return a job with its newest runs."""
    with session(request) as asked:
        names = decode_segments(job_namespace), decode_segments(job)
        return answers.job_of_name(asked.reader, asked.visibility, *names)


@get(
    "/api/v1/namespaces/{job_namespace:str}/jobs/{job:str}/runs",
    access="jobs",
    is_cut=True,
    sync_to_thread=True,
)
def get_job_runs(
    request: AnyRequest,
    job_namespace: FromPath[str],
    job: FromPath[str],
    *,
    limit: PageLimit = DEFAULT_LIMIT,
    offset: Offset = 0,
) -> Runs:
    """List the runs of a job, newest first."""
    with session(request) as asked:
        names = decode_segments(job_namespace), decode_segments(job)
        return answers.job_runs(asked.reader, asked.visibility, names, PageRange(limit, offset))


@get("/api/v1/jobs/runs/{run_id:str}", access="run", is_cut=True, sync_to_thread=True)
def get_job_run(request: AnyRequest, run_id: FromPath[str]) -> MarquezRun:
    """Return a run."""
    with session(request) as asked:
        return run_of_id(asked.reader, run_id, asked.visibility)


@get("/api/v1/jobs/runs/{run_id:str}/facets", access="run", is_cut=True, sync_to_thread=True)
def get_run_facets(
    request: AnyRequest,
    run_id: FromPath[str],
    facet_type: Annotated[Literal["run", "job", "RUN", "JOB"], QueryParameter(name="type")],
) -> MarquezRunFacets:
    """Return the facets of a run, or of its job, that the catalog keeps."""
    kind: Literal["run", "job"] = "run" if facet_type.lower() == "run" else "job"
    with session(request) as asked:
        return facets_of_run(asked.reader, asked.visibility, run_id, kind)
