"""Errors by which an action does not take place, each with its exit code and HTTP status."""

from lineage.errors import InvalidRequestError, NotNowError, RequestError


class ActionError(RequestError):
    """Error: the action does not take place; the text says why, and what to do."""


class InvalidActionError(ActionError, InvalidRequestError):
    """Error: no such action, or an invalid argument."""


class RejectedActionError(ActionError, NotNowError):
    """Error: it is possible but rejected: not configured, not safe now, or nothing to do."""


class ForbiddenActionError(ActionError):
    """Error: the requester may plan this action, but not run it."""

    exit_code = 6
    status = 403
    title = "Forbidden"


class FailedActionError(ActionError):
    """Error: a dependency did not answer, or rejected the call; earlier steps stay done."""

    status = 502
