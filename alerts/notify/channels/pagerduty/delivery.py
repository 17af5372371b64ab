"""Events to PagerDuty. An event that is repeated with its dedup_key changes nothing there."""

import ssl
from functools import cache
from pathlib import Path

from httpx2 import ConnectError, ConnectTimeout, Response, TimeoutException
from pagerduty import Error, EventsApiV2Client, ServerHttpError

from alerts.notify.channels.channel import (
    ChannelTask,
    DeliveryOutcome,
    MissingSecretError,
    PermanentFailure,
    Retryable,
    Sent,
    cut_error,
    from_status,
    from_transport_error,
    read_secret_file,
)
from alerts.notify.channels.page_actions import action_of
from alerts.notify.channels.pagerduty.payload import build_event


def deliver_to_pagerduty(
    task: ChannelTask, key_file: Path, url: str, timeout_seconds: int, ca_file: Path | None
) -> DeliveryOutcome:
    """Trigger, acknowledge or resolve the incident's alert."""
    try:
        key = read_secret_file(key_file)
    except MissingSecretError as error:
        return PermanentFailure("no_token", str(error))
    with _SingleAttemptClient(key, base_url=url, verify=_trust(ca_file)) as client:
        client.timeout = timeout_seconds
        return _send_event(client, task, key)


@cache
def _trust(ca_file: Path | None) -> ssl.SSLContext | bool:
    """Return the trusted authorities, which are read once."""
    return True if ca_file is None else ssl.create_default_context(cafile=ca_file)


class _HttpStatusError(Exception):
    """Response whose status is an error."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status_code)
        self.response = response


class _SingleAttemptClient(EventsApiV2Client):
    """Client of the library without its retries.

    They sleep, on 429 for ever, and what they know is gone after a crash: the outbox tries again.
    """

    max_network_attempts = 0

    def postprocess(self, response: Response) -> None:
        """Raise at the first response that is an error.

        Raises:
            _HttpStatusError: it is no success.
        """
        if not response.is_success:
            raise _HttpStatusError(response)


def _send_event(client: _SingleAttemptClient, task: ChannelTask, key: str) -> DeliveryOutcome:
    message = task.message
    try:
        handle = client.send_event(
            action_of(message.kind), dedup_key=message.incident_id, **build_event(message)
        )
    except ServerHttpError as error:  # taken, by its status, and answered by no JSON of theirs
        return Retryable("not_json", cut_error(error.msg, key), is_in_doubt=True)
    except _HttpStatusError as error:
        return _from_response(error.response, key)
    except Error as error:
        is_unsent = isinstance(error.__cause__, ConnectError | ConnectTimeout)
        is_late = isinstance(error.__cause__, TimeoutException)
        return from_transport_error(error.__cause__, key, is_unsent=is_unsent, is_late=is_late)
    return Sent(handle, is_repeat=task.doubt_since is not None)


def _from_response(response: Response, key: str) -> Retryable | PermanentFailure:
    text = cut_error(response.text, key)
    return from_status(response.status_code, text, response.headers.get("Retry-After"))
