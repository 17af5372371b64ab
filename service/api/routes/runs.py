"""Run by its id, and the newest runs of a dataset."""

from typing import Annotated

from litestar import get
from litestar.params import FromPath, FromQuery, QueryParameter

from service.api.routes.session import AnyRequest, Cursor, session
from service.queries.dataset_lookup import resolve_dataset
from service.queries.run_shapes import RecentRuns, RunAnswer
from service.queries.runs import NO_RUNS, recent_runs, run

_Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="Maximum number of results.")]


@get("/api/v1/runs/{run_id:str}", query="run", access="run", is_cut=True, sync_to_thread=True)
def get_run(request: AnyRequest, run_id: FromPath[str]) -> RunAnswer:
    """Return every run of this id, with inputs and outputs; two jobs may share an id."""
    with session(request) as asked:
        return run(asked.reader, run_id, asked.visibility)


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
