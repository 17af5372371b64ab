"""Whether Slack has a message already: looked for by the metadata that every message of ours bears.

Without it, a message that was taken while its answer got lost would be sent a second time.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
from slack_sdk import WebClient
from slack_sdk.web import SlackResponse

from alerts.notify.channels.channel import PermanentFailure
from alerts.notify.channels.slack.responses import SlackCallError, call_slack
from alerts.notify.message import Message

EVENT_TYPE: Final = "lineward_incident"
# Clocks differ by less; it costs a page at most.
_SKEW_SECONDS: Final = 300
_PAGE: Final = 100
_MAX_PAGES: Final = 10
_CHANNEL_ID: Final = re.compile(r"[CGD][A-Z0-9]{6,}")


class Handle(msgspec.Struct, frozen=True):
    """Where an incident's message stands. `revision`: the one it was posted for."""

    channel: str
    ts: str
    revision: int


def build_metadata(message: Message, part: str, revision: int) -> dict[str, Any]:
    """Of a message of ours; `part` is `root` or `reply`."""
    payload = {"incident_id": message.incident_id, "revision": revision, "part": part}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


class History:
    """What one channel holds of one incident, since an attempt that may have arrived."""

    def __init__(self, client: WebClient, token: str, incident_id: str, since: int) -> None:
        self._client = client
        self._token = token
        self._incident_id = incident_id
        self._oldest = f"{since / 1_000_000 - _SKEW_SECONDS:.6f}"

    def root(self, channel: str) -> Handle | None:
        """The incident's message, whichever revision it was posted for.

        Raises:
            NotTakenError: Slack does not tell.
        """
        channel_id = channel if _CHANNEL_ID.fullmatch(channel) else self._id_of(channel)
        if channel_id is None:
            return None

        def page(cursor: str) -> SlackResponse:
            return self._client.conversations_history(
                channel=channel_id, oldest=self._oldest, **_page_arguments(cursor)
            )

        for ts, payload in self._ours(page):
            if payload.get("part") == "root":
                return Handle(channel_id, ts, int(payload.get("revision", 0)))
        return None

    def has_reply(self, handle: Handle, revision: int) -> bool:
        """Whether the thread was told of this revision.

        Raises:
            NotTakenError: Slack does not tell.
        """

        def page(cursor: str) -> SlackResponse:
            return self._client.conversations_replies(
                channel=handle.channel, ts=handle.ts, oldest=self._oldest, **_page_arguments(cursor)
            )

        return any(
            payload.get("part") == "reply" and payload.get("revision") == revision
            for _, payload in self._ours(page)
        )

    def _ours(self, page: Callable[[str], SlackResponse]) -> Iterator[tuple[str, dict[str, Any]]]:
        for answer in self._pages(page):
            for told in answer.get("messages") or ():
                metadata = told.get("metadata") or {}
                payload = metadata.get("event_payload") or {}
                is_ours = metadata.get("event_type") == EVENT_TYPE
                if is_ours and payload.get("incident_id") == self._incident_id:
                    yield str(told["ts"]), payload

    def _pages(self, page: Callable[[str], SlackResponse]) -> Iterator[SlackResponse]:
        """Yield the answers of ten pages.

        Raises:
            NotTakenError: there are more: what was not found may be there all the same.
        """
        cursor = ""
        for _ in range(_MAX_PAGES):
            answer = call_slack(lambda: page(cursor), self._token)  # noqa: B023 - called at once
            yield answer
            cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
            if not cursor:
                return
        raise SlackCallError(PermanentFailure("history_too_long", f"over {_MAX_PAGES} pages"))

    def _id_of(self, name: str) -> str | None:
        """Of a channel that is named `#data`: history is told for an id alone."""

        def page(cursor: str) -> SlackResponse:
            return self._client.conversations_list(
                exclude_archived=True,
                types="public_channel,private_channel",
                limit=1_000,
                cursor=cursor or None,
            )

        for answer in self._pages(page):
            for channel in answer.get("channels") or ():
                if channel.get("name") == name.removeprefix("#"):
                    return str(channel["id"])
        return None


def _page_arguments(cursor: str) -> dict[str, Any]:
    return {"include_all_metadata": True, "limit": _PAGE, "cursor": cursor or None}
