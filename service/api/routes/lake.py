"""Runs that the catalog has deleted, from the events of the lake."""

from typing import Annotated

from litestar import get
from litestar.params import FromPath, FromQuery, QueryParameter

from service.api.access.gate import visibility_of
from service.api.routes.request import AnyRequest, Cursor
from service.queries.lake.recalled import LakeQuestion
from service.queries.lake.runs import (
    DatasetWindow,
    Direction,
    LakeRunAnswer,
    LakeRuns,
    dataset_runs_in_lake,
    run_in_lake,
)
from service.queries.visibility import EVERYTHING

_WHEN = "A day (2026-09-03) or a timestamp (2026-09-03T12:00:00Z)"
_First = Annotated[
    str | None, QueryParameter(name="from", max_length=64, description=f"{_WHEN}, in UTC.")
]
_Last = Annotated[
    str | None,
    QueryParameter(name="to", max_length=64, description=f"{_WHEN}; the whole of the day."),
]
_Limit = Annotated[int, QueryParameter(ge=1, le=1_000, description="At most so many.")]
_Text = Annotated[str | None, QueryParameter(max_length=4_096)]


@get("/api/v1/lake/runs/{run_id:str}", access="run", is_cut=True, sync_to_thread=True)
def get_lake_run(
    request: AnyRequest, run_id: FromPath[str], first: _First = None, last: _Last = None
) -> LakeRunAnswer:
    """Return every run of this id from the events of the lake, as the catalog once had it."""
    return run_in_lake(_question(request), run_id, first, last)


@get("/api/v1/lake/runs", access="run", is_cut=True, sync_to_thread=True)
def get_lake_runs(  # noqa: PLR0913 - each is a parameter of the query
    request: AnyRequest,
    *,
    dataset: FromQuery[str],
    first: Annotated[str, QueryParameter(name="from", max_length=64, description=_WHEN)],
    last: Annotated[str, QueryParameter(name="to", max_length=64, description=_WHEN)],
    dataset_namespace: _Text = None,
    direction: FromQuery[Direction] = "both",
    limit: _Limit = 50,
    cursor: Cursor = None,
) -> LakeRuns:
    """Return the runs that read or wrote a dataset in a window, from the events of the lake."""
    wanted = DatasetWindow(
        dataset=dataset,
        namespace=dataset_namespace,
        first=first,
        last=last,
        direction=direction,
        limit=limit,
        cursor=cursor,
    )
    return dataset_runs_in_lake(_question(request), wanted)


def _question(request: AnyRequest) -> LakeQuestion:
    state, visibility = request.app.state, visibility_of(request.scope) or EVERYTHING
    return LakeQuestion(state.settings, state.policy.current(), state.clock, visibility)
