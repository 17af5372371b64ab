"""Catalog session of an API request: limited to what the caller may see."""

from contextlib import AbstractContextManager
from typing import Annotated, Any

from litestar import Request
from litestar.datastructures import State
from litestar.params import QueryParameter

from service.api.access.gate import visibility_of
from service.api.access.visibility import EVERYTHING
from service.queries.catalog_session import CatalogSession, open_session
from service.queries.cursors import MOST_CHARACTERS

AnyRequest = Request[Any, Any, State]
Cursor = Annotated[
    str | None,
    QueryParameter(max_length=MOST_CHARACTERS, description="`next_cursor` of the previous page."),
]


def session(request: AnyRequest) -> AbstractContextManager[CatalogSession]:
    """Open the catalog session of this request."""
    state = request.app.state
    visibility = visibility_of(request.scope) or EVERYTHING
    return open_session(
        state.settings, state.clock, visibility, state.live and state.live.current()
    )
