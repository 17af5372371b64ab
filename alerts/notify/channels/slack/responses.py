"""What Slack's answers mean: which are worth another try, which are final, which leave a doubt."""

from collections.abc import Callable
from http.client import HTTPException
from typing import Final
from urllib.error import URLError

from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

from alerts.notify.channels.channel import (
    Later,
    Refused,
    cut_error,
    of_silence,
    retry_after_seconds,
)

_OK: Final = 200
_TOO_MANY: Final = 429
_SERVER_ERROR: Final = 500
_TOO_FAST: Final = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
_PASSING: Final = frozenset({"service_unavailable", "team_added_to_org"})
# "It's possible some aspect of the operation succeeded before the error was raised."
_PASSING_IN_DOUBT: Final = frozenset({"fatal_error", "internal_error", "request_timeout"})
# What we would edit is gone, or too old to be edited.
UNEDITABLE: Final = frozenset(
    {"message_not_found", "cant_update_message", "edit_window_closed", "thread_not_found"}
)


class NotTakenError(Exception):
    """Slack did not take a call: `outcome` says whether it may, later."""

    def __init__(self, outcome: Later | Refused) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


def ask(call: Callable[[], SlackResponse], token: str) -> SlackResponse:
    """Call Slack once.

    Raises:
        NotTakenError: it did not answer `ok`.
    """
    try:
        return call()
    except SlackApiError as error:
        raise NotTakenError(_of_answer(error.response, token)) from error
    except (OSError, HTTPException, UnicodeDecodeError) as error:
        raise NotTakenError(_of_silence(error, token)) from error


def _of_answer(answer: SlackResponse, token: str) -> Later | Refused:
    # A body that is no JSON stands in the place of the code.
    code = answer.get("error") or ""
    error = cut_error(str(code), token)
    if answer.status_code == _TOO_MANY or code in _TOO_FAST:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Later("rate_limited", error, retry_after_seconds(headers.get("retry-after")))
    if answer.status_code >= _SERVER_ERROR:
        return Later(f"http_{answer.status_code}", error, is_in_doubt=True)
    if code in _PASSING or code in _PASSING_IN_DOUBT:
        return Later(str(code), error, is_in_doubt=code in _PASSING_IN_DOUBT)
    if not _is_code(code):
        # A proxy's page, say. Under 200 the message may have gone through.
        reason = "not_json" if answer.status_code == _OK else f"http_{answer.status_code}"
        return Later(reason, error, is_in_doubt=answer.status_code == _OK)
    return Refused(str(code), error)


def _is_code(code: str) -> bool:
    return code.isascii() and code.replace("_", "").isalnum() and len(code) <= 64  # noqa: PLR2004


def _of_silence(error: Exception, token: str) -> Later:
    cause = error.reason if isinstance(error, URLError) else error
    is_unsent = isinstance(cause, ConnectionRefusedError)
    is_late = isinstance(cause, TimeoutError)
    return of_silence(cause, token, is_unsent=is_unsent, is_late=is_late)
