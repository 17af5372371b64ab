"""What answers a request that has no answer: problem JSON (RFC 9457), the status by error class."""

from typing import Any

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException
from litestar.types import ExceptionHandlersMap

from service.errors import RefusedInputError, ServiceError, UnknownDatasetError

_log = structlog.get_logger()
_MEDIA_TYPE = "application/problem+json"
_AnyRequest = Request[Any, Any, Any]
# There is no page to run anything in, and none to be framed.
SAFE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of every refusal."""

    title: str
    status: int
    detail: str
    candidates: list[str] = []
    type: str = "about:blank"


def _response(problem: Problem) -> Response[Problem]:
    return Response(problem, status_code=problem.status, media_type=_MEDIA_TYPE)


def service_error(_request: _AnyRequest, error: ServiceError) -> Response[Problem]:
    """A question without an answer, in the words of its error."""
    candidates = error.candidates if isinstance(error, UnknownDatasetError) else []
    if isinstance(error, RefusedInputError):
        # On this side it was the operator's file that is wrong, not the request.
        return _response(Problem(error.title, 503, str(error)))
    return _response(Problem(error.title, error.status, str(error), candidates))


def http_error(_request: _AnyRequest, error: HTTPException) -> Response[Problem]:
    """No such path, no such method, a parameter out of its range."""
    detail = "; ".join([error.detail, *_fields(error)])
    return _response(Problem(type(error).__name__, error.status_code, detail))


def _fields(error: HTTPException) -> list[str]:
    if not isinstance(error.extra, list):
        return []
    return [f"{field.get('key')}: {field.get('message')}" for field in error.extra]


def unforeseen(request: _AnyRequest, error: Exception) -> Response[Problem]:
    """The edge of the process: logged, and answered without a word of what was inside."""
    _log.error("request_failed", path=request.url.path, exc_info=error)
    return _response(Problem("Failed", 500, "the request failed; the service's log says how"))


HANDLERS: ExceptionHandlersMap = {
    ServiceError: service_error,
    HTTPException: http_error,
    Exception: unforeseen,
}
