"""Reads without a source (M5), as an answer and as a page."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from service.api.routes.pages import page, render
from service.api.routes.request import AnyRequest, session
from service.queries.unsourced import MOST_HOURS, MOST_LISTED, UnsourcedReads, unsourced_reads

_Limit = Annotated[
    int, QueryParameter(ge=1, le=MOST_LISTED, description=("Maximum number of results."))
]
_Hours = Annotated[int, QueryParameter(ge=1, le=MOST_HOURS, description="Number of past hours.")]


@get("/api/v1/unsourced-reads", access="datasets", is_cut=True, sync_to_thread=True)
def get_unsourced_reads(
    request: AnyRequest, *, hours: _Hours = 24, limit: _Limit = 100
) -> UnsourcedReads:
    """List datasets that were read though no write of them is known, most readers first."""
    with session(request) as asked:
        return unsourced_reads(asked.reader, asked.now, asked.visibility, hours=hours, limit=limit)


@page("/unsourced-reads", access="datasets", is_cut=True)
def get_unsourced_page(request: AnyRequest, *, hours: _Hours = 24) -> str:
    """Show datasets that were read though no write of them is known."""
    with session(request) as asked:
        found = unsourced_reads(asked.reader, asked.now, asked.visibility, hours=hours)
    return render(request, "unsourced", view=found)
