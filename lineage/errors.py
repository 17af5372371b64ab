"""Errors that a caller answers, each with its exit code and HTTP status."""

from typing import ClassVar


class RequestError(Exception):
    """Request or command that failed; the text says what to do next."""

    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Failed"


class InvalidRequestError(RequestError):
    """Request with a field or parameter that is missing or invalid; the text names it."""

    exit_code = 2
    status = 400
    title = "Invalid request"


class NotNowError(RequestError):
    """Action that is not possible in the present state, or not configured."""

    exit_code = 6
    status = 409
    title = "Rejected"


class UnknownIncidentError(RequestError):
    """Incident that does not exist or that the caller may not see."""

    exit_code = 3
    status = 404
    title = "Unknown incident"
