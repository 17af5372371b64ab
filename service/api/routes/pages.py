"""Declaration of a page's handler, and the form of its responses."""

from functools import partial
from typing import Any

from litestar import MediaType, get
from litestar.datastructures import ResponseHeader

from service.api.access.gate import who_of
from service.api.routes.request import AnyRequest
from service.explorer.drawing import PAGE_HEADERS, render_page

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


def render(request: AnyRequest, template: str, **view: Any) -> str:  # noqa: ANN401 - the template's
    """Render a page for the caller."""
    now = request.app.state.clock()
    return render_page(template, now, who_of(request.scope), here=request.url.path, **view)
