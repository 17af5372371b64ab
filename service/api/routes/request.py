"""Request of the API: its catalog session, its body, and the page that answers it."""

from contextlib import AbstractContextManager
from functools import partial
from typing import Annotated, Any, TypeVar

import msgspec
from litestar import MediaType, Request, get
from litestar.datastructures import ResponseHeader, State
from litestar.params import QueryParameter

from lineage.errors import InvalidRequestError
from service.api.access.gate import visibility_of, who_of
from service.api.input_checks import reject_nul_in_json
from service.errors import NotJsonError
from service.explorer.rendering import PAGE_HEADERS, render_page
from service.queries.catalog_session import CatalogSession, open_session
from service.queries.cursors import MOST_CHARACTERS
from service.queries.visibility import EVERYTHING

AnyRequest = Request[Any, Any, State]
Cursor = Annotated[
    str | None,
    QueryParameter(max_length=MOST_CHARACTERS, description="`next_cursor` of the previous page."),
]
MAX_REQUEST_BYTES = 65_536
_Shape = TypeVar("_Shape")

HEADERS = [ResponseHeader(name=name, value=value) for name, value in PAGE_HEADERS.items()]
# `page`: a rejection of it is a page too, and a browser's cookie is believed.
page = partial(
    get,
    page=True,
    media_type=MediaType.HTML,
    response_headers=HEADERS,
    include_in_schema=False,
    sync_to_thread=True,
)


def session(request: AnyRequest) -> AbstractContextManager[CatalogSession]:
    """Open the catalog session of this request."""
    state = request.app.state
    visibility = visibility_of(request.scope) or EVERYTHING
    return open_session(
        state.settings, state.clock, visibility, state.live and state.live.current()
    )


async def json_body(request: AnyRequest, shape: type[_Shape]) -> _Shape:
    """Return the body; an empty one is an empty object.

    Raises:
        NotJsonError: its content type is not JSON.
        InvalidRequestError: it has not this shape; the text names the place.
    """
    require_json(request)
    body = await request.body()
    reject_nul_in_json(body)
    try:
        return msgspec.json.decode(body or b"{}", type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequestError(f"body: {str(error)[:300]}") from error


def require_json(request: AnyRequest) -> None:
    """Reject a body whose content type is not JSON.

    Raises:
        NotJsonError: a page of another site may have a visitor's browser send any other kind
            without asking us first.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise NotJsonError(f"send `Content-Type: application/json`, not {kind[:80]!r}")


def render_for_caller(request: AnyRequest, template: str, **view: Any) -> str:  # noqa: ANN401 - the template's
    """Render a page for the caller."""
    now = request.app.state.clock()
    return render_page(template, now, who_of(request.scope), here=request.url.path, **view)
