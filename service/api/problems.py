"""Error responses, as problem JSON (RFC 9457) or as a page."""

from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.types import ExceptionHandlersMap, Scope

from lineage.catalog.trouble import CatalogError
from lineage.errors import RequestError
from service.errors import RejectedInputError, UnknownDatasetError, UnknownNodeError
from service.explorer.rendering import PAGE_HEADERS, render_page
from service.queries.catalog_session import catalog_failure, unreachable_error

_log = structlog.get_logger()
PROBLEM_MEDIA_TYPE = "application/problem+json"
_AnyRequest = Request[Any, Any, Any]
_UNAUTHORIZED = 401
# Responses that are not pages run no scripts and are not framed.
SAFE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Body of every error response."""

    title: str
    status: int
    detail: str
    candidates: list[str] = []
    type: str = "about:blank"
    code: int = 0  # as in Marquez, for requests of its API
    message: str = ""


def is_page(scope: Scope) -> bool:
    """Check whether the handler renders a page, or, without a handler, whether a browser asks."""
    handler = scope.get("route_handler")
    if handler is None:
        return b"text/html" in dict(scope["headers"]).get(b"accept", b"")
    return bool(handler.opt.get("page"))


def shown_as(scope: Scope, problem: Problem) -> tuple[bytes, dict[str, str]]:
    """Return the body of an error response, and its headers."""
    if not is_page(scope):
        return msgspec.json.encode(problem), {"Content-Type": PROBLEM_MEDIA_TYPE, **SAFE_HEADERS}
    page = render_page(
        "problem",
        scope["litestar_app"].state["clock"](),
        problem=problem,
        is_unknown=problem.status == _UNAUTHORIZED,
        wanted=_wanted(scope),
    )
    return page.encode(), {"Content-Type": "text/html; charset=utf-8", **PAGE_HEADERS}


def _wanted(scope: Scope) -> str:
    """Return the address to open after the sign-in."""
    if scope.get("method") != "GET":
        return "/"
    query = scope["query_string"].decode("latin-1")
    path = quote(scope["path"])
    return f"{path}?{query}" if query else path


def _response(request: _AnyRequest, problem: Problem) -> Response[bytes]:
    body, headers = shown_as(request.scope, problem)
    kind = headers.pop("Content-Type").partition(";")[0]  # Litestar adds the charset
    return Response(body, status_code=problem.status, media_type=kind, headers=headers)


def service_error(request: _AnyRequest, error: RequestError) -> Response[bytes]:
    """Return the response for a query that failed with a known error."""
    candidates = error.candidates if isinstance(error, UnknownDatasetError) else []
    if isinstance(error, RejectedInputError):
        # The operator's file is wrong, not the request.
        return _response(request, Problem(error.title, 503, str(error)))
    problem = Problem(error.title, error.status, str(error), candidates)
    if isinstance(error, UnknownNodeError):
        fields = {"code": problem.status, "message": problem.detail}
        problem = msgspec.structs.replace(problem, **fields)
    return _response(request, problem)


def http_error(request: _AnyRequest, error: HTTPException) -> Response[bytes]:
    """Return the response for an unknown path or method, or an invalid parameter."""
    detail = "; ".join([error.detail, *_fields(error)])
    title = HTTPStatus(error.status_code).phrase
    return _response(request, Problem(title, error.status_code, detail))


def _fields(error: HTTPException) -> list[str]:
    if not isinstance(error.extra, list):
        return []
    return [f"{field.get('key')}: {field.get('message')}" for field in error.extra]


def unforeseen(request: _AnyRequest, error: Exception) -> Response[bytes]:
    """Log an unexpected error, and answer without internal details."""
    failure = catalog_failure(error, request.app.state["settings"])
    if failure is not None:
        _log.error("catalog_failed", path=request.url.path, error=str(failure))
        return service_error(request, failure)
    _log.error("request_failed", path=request.url.path, exc_info=error)
    detail = "the request failed; see the log of the service"
    return _response(request, Problem("Failed", 500, detail))


def catalog_error(request: _AnyRequest, error: CatalogError) -> Response[bytes]:
    """Return the response for a catalog that cannot be used now."""
    return service_error(request, unreachable_error(error))


HANDLERS: ExceptionHandlersMap = {
    RequestError: service_error,
    HTTPException: http_error,
    CatalogError: catalog_error,
    Exception: unforeseen,
}
