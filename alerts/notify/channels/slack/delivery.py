"""Delivery to Slack: a message for each incident, with a reply in its thread for each change.

An edit may be repeated. A post may not: while an earlier post is in doubt, the history of the
channel is searched first.
"""

from io import BytesIO
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

import msgspec
from slack_sdk import WebClient

from alerts.notify.channels.channel import (
    ChannelTask,
    DeliveryOutcome,
    MissingSecretError,
    PermanentFailure,
    Sent,
    read_secret_file,
)
from alerts.notify.channels.slack.blocks import build_blocks, notification_text, thread_reply
from alerts.notify.channels.slack.history import ChannelHistory, Handle, build_metadata
from alerts.notify.channels.slack.responses import UNEDITABLE, SlackCallError, call_slack
from alerts.notify.message import Message

_MAX_RESPONSE_BYTES: Final = 16_777_216  # a page of a hundred messages is a tenth of it

# Nothing is made of the text that we did not write into it.
_LITERAL: Final[dict[str, Any]] = {"parse": "none", "link_names": False}


class OversizedResponseError(OSError):
    """Response that is larger than we read."""


class SafeWebClient(WebClient):
    """Client that follows no redirect, which would take the token along, and limits responses."""

    def _perform_urllib_http_request_internal(self, url: str, req: Request) -> dict[str, Any]:
        """Replace the library's method; `test_slack_delivery.py` fails when it is renamed.

        Raises:
            HTTPError: any status but 2xx; a redirect is one of these.
            OversizedResponseError: the response is over 16 MiB.
        """
        proxies = {"http": self.proxy, "https": self.proxy} if self.proxy else {}
        opener = build_opener(_NoRedirect(), ProxyHandler(proxies), HTTPSHandler(context=self.ssl))
        try:
            with opener.open(req, timeout=self.timeout) as answer:
                body = answer.read(_MAX_RESPONSE_BYTES + 1)
                if len(body) > _MAX_RESPONSE_BYTES:
                    raise OversizedResponseError(
                        f"{url}: the answer is over {_MAX_RESPONSE_BYTES} bytes"
                    )
                return {"status": answer.code, "headers": answer.headers, "body": body.decode()}
        except HTTPError as error:
            beginning = BytesIO(error.read(_MAX_RESPONSE_BYTES))
            raise HTTPError(url, error.code, error.reason, error.headers, beginning) from None


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_: object, **__: object) -> None:
        """Follow none: the redirect itself is the response."""


def deliver_to_slack(
    url: str, token_file: Path, timeout_seconds: int, task: ChannelTask
) -> DeliveryOutcome:
    """Post the incident's message, or edit it and reply in its thread."""
    try:
        token = read_secret_file(token_file)
        # The retries of the library would post again without a search, and end with the process.
        client = SafeWebClient(
            token=token, base_url=url, timeout=timeout_seconds, retry_handlers=[]
        )
        return _Delivery(client, token, task).run()
    except MissingSecretError as error:
        return PermanentFailure("no_token", str(error), is_of_kind=True)
    except SlackCallError as error:
        return error.outcome


class _Delivery:
    """Attempt to send one message."""

    def __init__(self, client: WebClient, token: str, task: ChannelTask) -> None:
        self._client = client
        self._token = token
        self._task = task
        self._is_blind = False  # history could not be searched, though there was a doubt

    def run(self) -> Sent:
        handle = self._known()
        if handle is None:
            return self._post()
        if handle.revision == self._task.message.revision:
            return Sent(_encode(handle))
        try:
            self._edit(handle)
        except SlackCallError as error:
            if error.outcome.reason not in UNEDITABLE:
                raise
            return self._post()
        self._reply(handle)
        return Sent(_encode(handle), is_repeat=self._is_blind)

    def _known(self) -> Handle | None:
        if self._task.handle is not None:
            return msgspec.json.decode(self._task.handle, type=Handle)
        return self._found_root()

    def _found_root(self) -> Handle | None:
        history = self._history()
        if history is None:
            return None
        try:
            return history.root(self._task.target)
        except SlackCallError as error:
            self._go_on_blind(error)
            return None

    def _has_reply(self, handle: Handle) -> bool:
        history = self._history()
        if history is None:
            return False
        try:
            return history.has_reply(handle, self._task.message.revision)
        except SlackCallError as error:
            self._go_on_blind(error)
            return False

    def _history(self) -> ChannelHistory | None:
        since = self._task.doubt_since
        if since is None:
            return None
        return ChannelHistory(self._client, self._token, self._task.message.incident_id, since)

    def _go_on_blind(self, error: SlackCallError) -> None:
        """Send it again rather than never where Slack cannot search (a missing scope)."""
        if not isinstance(error.outcome, PermanentFailure):
            raise error
        self._is_blind = True

    def _post(self) -> Sent:
        message = self._task.message
        answer = call_slack(
            lambda: self._client.chat_postMessage(
                channel=self._task.target,
                mrkdwn=False,
                unfurl_links=False,
                unfurl_media=False,
                metadata=build_metadata(message, "root", message.revision),
                **_render(message),
            ),
            self._token,
        )
        handle = Handle(str(answer.get("channel")), str(answer.get("ts")), message.revision)
        return Sent(_encode(handle), is_repeat=self._is_blind)

    def _edit(self, handle: Handle) -> None:
        message = self._task.message
        call_slack(
            lambda: self._client.chat_update(
                channel=handle.channel,
                ts=handle.ts,
                metadata=build_metadata(message, "root", handle.revision),
                **_render(message),
            ),
            self._token,
        )

    def _reply(self, handle: Handle) -> None:
        if self._has_reply(handle):
            return
        message = self._task.message
        call_slack(
            lambda: self._client.chat_postMessage(
                channel=handle.channel,
                thread_ts=handle.ts,
                text=thread_reply(message),
                mrkdwn=False,
                metadata=build_metadata(message, "reply", message.revision),
                **_LITERAL,
            ),
            self._token,
        )


def _render(message: Message) -> dict[str, Any]:
    return {"text": notification_text(message), "blocks": build_blocks(message), **_LITERAL}


def _encode(handle: Handle) -> str:
    return msgspec.json.encode(handle).decode()
