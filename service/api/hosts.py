"""Rejects requests for another host's name, and those that another site has a browser send."""

from collections.abc import Callable
from urllib.parse import urlsplit

from litestar.exceptions import ClientException, PermissionDeniedException
from msgspec.structs import replace

from lineage.process.http_hosts import OwnHosts, find_cross_site, find_foreign_host
from service.api.access.gate import REJECTED_FOR
from service.api.routes.request import AnyRequest


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
