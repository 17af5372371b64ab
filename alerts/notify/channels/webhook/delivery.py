"""Webhook that is signed as the Standard Webhooks specification says.

A receiver accepts each `webhook-id` once, and a body whose signature it can reproduce.
"""

import base64
import hashlib
import hmac
from pathlib import Path
from typing import Final

import httpx

from alerts.notify.channels.channel import (
    ChannelTask,
    DeliveryOutcome,
    MissingSecretError,
    PermanentFailure,
    Sent,
    cut_error,
    from_status,
    from_transport_error,
    read_secret_file,
)
from alerts.notify.message import to_json

_MAX_READ_BYTES: Final = 4_096


class WebhookClient:
    """Client that posts to one address. Redirects are not followed."""

    def __init__(self, url: str, secret_file: Path, timeout_seconds: int) -> None:
        self._url = url
        self._secret_file = secret_file
        self._client = httpx.Client(timeout=timeout_seconds)

    def deliver(self, task: ChannelTask, timestamp: int) -> DeliveryOutcome:
        """Post the whole message as JSON, signed at this time in seconds."""
        body = to_json(task.message).encode()
        delivery_id = f"{task.message.incident_id}.{task.message.revision}"
        try:
            secret = read_secret_file(self._secret_file)
        except MissingSecretError as error:
            return PermanentFailure("no_token", str(error))
        try:
            headers = sign(body, delivery_id, timestamp, secret)
        except ValueError:
            return PermanentFailure(
                "no_token", f"{self._secret_file}: expected base64 after whsec_"
            )
        return self._post(task, body, headers, secret)

    def _post(
        self, task: ChannelTask, body: bytes, headers: dict[str, str], secret: str
    ) -> DeliveryOutcome:
        try:
            with self._client.stream("POST", self._url, content=body, headers=headers) as response:
                text = cut_error(_read_start(response), secret)
        except httpx.TransportError as error:
            is_unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
            is_late = isinstance(error, httpx.TimeoutException)
            return from_transport_error(error, secret, is_unsent=is_unsent, is_late=is_late)
        if response.is_success:
            return Sent(headers["webhook-id"], is_repeat=task.doubt_since is not None)
        return from_status(response.status_code, text, response.headers.get("Retry-After"))


def sign(body: bytes, delivery_id: str, timestamp: int, secret: str) -> dict[str, str]:
    """Return the headers of a body: HMAC-SHA256 over `id.timestamp.body`.

    Args:
        body: as it is sent.
        delivery_id: the same for every try.
        timestamp: seconds.
        secret: any text, or `whsec_` and the key in base64, as the specification's libraries want.

    Raises:
        ValueError: no base64, or nothing, after `whsec_`.
    """
    content = f"{delivery_id}.{timestamp}.".encode() + body
    digest = hmac.new(_key_of(secret), content, hashlib.sha256).digest()
    return {
        "content-type": "application/json",
        "webhook-id": delivery_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def _key_of(secret: str) -> bytes:
    encoded = secret.removeprefix("whsec_")
    if not encoded:
        raise ValueError("an empty key signs nothing")
    return secret.encode() if encoded == secret else base64.b64decode(encoded, validate=True)


def _read_start(response: httpx.Response) -> str:
    """Return the start of a response: it is shown, and may never end."""
    for chunk in response.iter_bytes(_MAX_READ_BYTES):
        return chunk.decode(errors="replace")
    return ""
