"""Why an action does not take place; the status that the API answers is decided here."""

from typing import ClassVar


class ActionError(Exception):
    """The action does not take place; the text says why, and what to do."""

    status: ClassVar[int] = 409


class InvalidActionError(ActionError):
    """No such action, or an argument that it cannot have."""

    status = 400


class RefusedActionError(ActionError):
    """It could be done, and is not: not configured, not safe now, or nothing to be done."""


class ForbiddenActionError(ActionError):
    """Who asks may not have it done; they may have it planned."""

    status = 403


class FailedActionError(ActionError):
    """Something that it needs did not answer, or said no; what was done before stands."""

    status = 502
