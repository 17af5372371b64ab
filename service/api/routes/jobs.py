"""Jobs, as an answer and as a page: for tokens that may see every namespace.

The name of a job may name any dataset that it makes, and a job without datasets has no namespace
that a token could be held to.
"""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from service.api.routes.pages import page, render
from service.api.routes.request import AnyRequest, Cursor, session
from service.queries.jobs import MOST_LISTED, JobPage, jobs

_Limit = Annotated[int, QueryParameter(ge=1, le=MOST_LISTED, description="Maximum number of jobs.")]
_Contains = Annotated[
    str | None,
    QueryParameter(max_length=4_096, description=("Only job names that contain this text.")),
]


@get("/api/v1/last-runs", access="run", sync_to_thread=True)
def get_jobs(
    request: AnyRequest, *, contains: _Contains = None, limit: _Limit = 100, cursor: Cursor = None
) -> JobPage:
    """List jobs by their own names, each with its newest runs."""
    with session(request) as asked:
        return jobs(asked.reader, contains=contains, limit=limit, cursor=cursor)


@page("/jobs", access="run")
def get_jobs_page(request: AnyRequest, *, find: _Contains = None, cursor: Cursor = None) -> str:
    """Show jobs with their newest runs, found by a part of the name."""
    with session(request) as asked:
        found = jobs(asked.reader, contains=find or None, cursor=cursor)
    return render(request, "jobs", view=found, find=find or "", is_first=cursor is None)
