"""Forms of our own pages: nothing is done that another site made a browser ask for."""

from urllib.parse import urlsplit

from litestar.exceptions import PermissionDeniedException

from service.access.gate import REFUSED_FOR
from service.routes.asked import AnyRequest

_ADVICE = "not sent by a page of ours: open the page here and press the button there"


def require_own_form(request: AnyRequest) -> None:
    """Believe what browsers say of who made them send it; what says nothing is no browser's form.

    Raises:
        PermissionDeniedException: another site did, or nobody says who.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        is_own = site == "same-origin"
    else:
        is_own = _host(request.headers.get("origin", "")) in _own_hosts(request)
    if not is_own:
        request.scope["state"][REFUSED_FOR] = "foreign_form"
        raise PermissionDeniedException(_ADVICE)


def _own_hosts(request: AnyRequest) -> set[str]:
    """As the browser asked for us; behind a proxy that renames us, as people know us."""
    known = {request.headers.get("host", ""), _host(request.app.state.routing.public_url)}
    return {host.lower() for host in known if host}


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""
