"""Protection against requests for another host, and those that another site has a browser send."""

from collections.abc import Callable
from urllib.parse import urlsplit

from litestar.exceptions import ClientException, PermissionDeniedException
from msgspec.structs import replace

from lineage.process.http_hosts import OwnHosts, find_cross_site, find_foreign_host
from service.api.access.gate import REJECTED_FOR
from service.api.routes.request import AnyRequest

_ADVICE = "the form was not sent by a page of this service: open the page here and use its button"


def host_check(own: OwnHosts, public_url: str) -> Callable[[AnyRequest], None]:
    """Build the check of every request; `public_url` is how people know us behind a proxy."""
    public = urlsplit(public_url).hostname
    known = replace(own, names=own.names | {public}) if public else own

    def check(request: AnyRequest) -> None:
        if (problem := find_foreign_host(request.headers.get("host", ""), known)) is not None:
            raise ClientException(problem)
        if _has_own_form(request):
            return
        problem = find_cross_site(request.method, request.headers.get, known)
        if problem is not None:
            request.scope["state"][REJECTED_FOR] = "cross_site"
            raise PermissionDeniedException(problem)

    return check


def _has_own_form(request: AnyRequest) -> bool:
    """Return whether the handler has stricter checks of its own: `require_own_form`."""
    is_page = bool(request.scope["route_handler"].opt.get("page"))
    return is_page and request.method == "POST"


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
