"""Meaning of Slack's responses: which may pass, which are final, which leave a doubt."""

from collections.abc import Callable
from http.client import HTTPException
from typing import Final
from urllib.error import URLError

from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

from alerts.notify.channels.channel import (
    PermanentFailure,
    Retryable,
    cut_error,
    from_transport_error,
    parse_retry_after,
)

_OK: Final = 200
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500
RATE_LIMIT_ERRORS: Final = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
RETRYABLE_ERRORS: Final = frozenset({"service_unavailable", "team_added_to_org"})
# "It's possible some aspect of the operation succeeded before the error was raised."
DOUBTFUL_ERRORS: Final = frozenset({"fatal_error", "internal_error", "request_timeout"})
# What we would edit is gone, or too old to be edited.
UNEDITABLE: Final = frozenset(
    {"message_not_found", "cant_update_message", "edit_window_closed", "thread_not_found"}
)

# One token serves all channels of the workspace.
TOKEN_ERRORS: Final = frozenset(
    {
        "not_authed",
        "invalid_auth",
        "token_expired",
        "token_revoked",
        "account_inactive",
        "missing_scope",
    }
)


class SlackCallError(Exception):
    """Call that failed; `outcome` says whether a retry may succeed."""

    def __init__(self, outcome: Retryable | PermanentFailure) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


def call_slack(call: Callable[[], SlackResponse], token: str) -> SlackResponse:
    """Call Slack once.

    Raises:
        SlackCallError: it did not answer `ok`.
    """
    try:
        return call()
    except SlackApiError as error:
        raise SlackCallError(_from_response(error.response, token)) from error
    except (OSError, HTTPException, UnicodeDecodeError) as error:
        raise SlackCallError(_from_error(error, token)) from error


def _from_response(answer: SlackResponse, token: str) -> Retryable | PermanentFailure:
    # A body that is no JSON stands in place of the code.
    code = answer.get("error") or ""
    error = cut_error(str(code), token)
    if answer.status_code == _TOO_MANY or code in RATE_LIMIT_ERRORS:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Retryable("rate_limited", error, parse_retry_after(headers.get("retry-after")))
    if answer.status_code >= _SERVER_ERROR:
        return Retryable(f"http_{answer.status_code}", error, is_in_doubt=True)
    if code in RETRYABLE_ERRORS or code in DOUBTFUL_ERRORS:
        return Retryable(str(code), error, is_in_doubt=code in DOUBTFUL_ERRORS)
    if not _is_code(code):
        # Page of a proxy. With status 200 the message may have arrived.
        reason = "not_json" if answer.status_code == _OK else f"http_{answer.status_code}"
        return Retryable(reason, error, is_in_doubt=answer.status_code == _OK)
    return PermanentFailure(str(code), error, is_of_kind=code in TOKEN_ERRORS)


def _is_code(code: str) -> bool:
    return code.isascii() and code.replace("_", "").isalnum() and len(code) <= 64  # noqa: PLR2004


def _from_error(error: Exception, token: str) -> Retryable:
    cause = error.reason if isinstance(error, URLError) else error
    is_unsent = isinstance(cause, ConnectionRefusedError)
    is_late = isinstance(cause, TimeoutError)
    return from_transport_error(cause, token, is_unsent=is_unsent, is_late=is_late)
