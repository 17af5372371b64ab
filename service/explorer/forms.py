"""Protection of forms against requests that another site made the browser send."""

from urllib.parse import urlsplit

from litestar.exceptions import PermissionDeniedException

from service.api.access.gate import REJECTED_FOR
from service.api.routes.request import AnyRequest

_ADVICE = "the form was not sent by a page of this service: open the page here and use its button"


def require_own_form(request: AnyRequest) -> None:
    """Reject a form that a page of another site sent.

    Raises:
        PermissionDeniedException: the form is from another site, or has no origin.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        is_own = site == "same-origin"
    else:
        is_own = _host(request.headers.get("origin", "")) in _own_hosts(request)
    if not is_own:
        request.scope["state"][REJECTED_FOR] = "foreign_form"
        raise PermissionDeniedException(_ADVICE)


def _own_hosts(request: AnyRequest) -> set[str]:
    """Return the host of the request and the public host, which a proxy may rename."""
    known = {request.headers.get("host", ""), _host(request.app.state.routing.public_url)}
    return {host.lower() for host in known if host}


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""
