"""Errors by which an action does not take place, each with the status of the API."""

from typing import ClassVar


class ActionError(Exception):
    """Error: the action does not take place; the text says why, and what to do."""

    status: ClassVar[int] = 409


class InvalidActionError(ActionError):
    """Error: no such action, or an invalid argument."""

    status = 400


class RejectedActionError(ActionError):
    """Error: it is possible but rejected: not configured, not safe now, or nothing to do."""


class ForbiddenActionError(ActionError):
    """Error: the requester may plan this action, but not run it."""

    status = 403


class FailedActionError(ActionError):
    """Error: a dependency did not answer, or rejected the call; earlier steps stay done."""

    status = 502
