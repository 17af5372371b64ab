"""Runbook pages that alerts and messages link to: open to all, since they name no dataset or job.

An on-call engineer opens one on a phone, without a token.
"""

from litestar import MediaType, get
from litestar.datastructures import ResponseHeader
from litestar.params import FromPath

from runbooks.html import CONTENT_SECURITY_POLICY, index_html, page_html
from runbooks.library import PATH
from service.api.access.gate import OPEN

_HEADERS = [ResponseHeader(name="Content-Security-Policy", value=CONTENT_SECURITY_POLICY)]


@get(
    PATH,
    access=OPEN,
    media_type=MediaType.HTML,
    response_headers=_HEADERS,
    include_in_schema=False,
    sync_to_thread=False,
)
def get_runbooks() -> str:
    """List the runbook pages."""
    return index_html()


@get(
    f"{PATH}/{{name:str}}",
    access=OPEN,
    media_type=MediaType.HTML,
    response_headers=_HEADERS,
    include_in_schema=False,
    sync_to_thread=False,
)
def get_runbook(name: FromPath[str]) -> str:
    """Return one page."""
    return page_html(name)
