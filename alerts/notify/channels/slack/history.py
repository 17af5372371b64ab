"""Search for a message that Slack may have, by the metadata that each of ours carries.

Without it, a message whose response was lost would be posted twice.
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
from lineage.process.clock import SECOND_MICROS

EVENT_TYPE: Final = "lineward_incident"
# Clocks differ by less; it costs a page at most.
_SKEW_SECONDS: Final = 300
_PAGE: Final = 100
_MAX_PAGES: Final = 10
_CHANNEL_ID: Final = re.compile(r"[CGD][A-Z0-9]{6,}")


class Handle(msgspec.Struct, frozen=True):
    """Place of an incident's message in Slack. `revision`: the one that it was posted for."""

    channel: str
    ts: str
    revision: int


def build_metadata(message: Message, part: str, revision: int) -> dict[str, Any]:
    """Return the metadata of a message; `part` is `root` or `reply`."""
    payload = {"incident_id": message.incident_id, "revision": revision, "part": part}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


class ChannelHistory:
    """Messages of one incident in one channel, since an attempt that may have arrived."""

    def __init__(self, client: WebClient, token: str, incident_id: str, since: int) -> None:
        self._client = client
        self._token = token
        self._incident_id = incident_id
        self._oldest = f"{since / SECOND_MICROS - _SKEW_SECONDS:.6f}"

    def root(self, channel: str) -> Handle | None:
        """Return the incident's message, whichever revision it was posted for.

        Raises:
            SlackCallError: Slack rejects the search.
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
        """Return whether the thread has the reply of a revision.

        Raises:
            SlackCallError: Slack rejects the search.
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
            for found in answer.get("messages") or ():
                metadata = found.get("metadata") or {}
                payload = metadata.get("event_payload") or {}
                is_ours = metadata.get("event_type") == EVENT_TYPE
                if is_ours and payload.get("incident_id") == self._incident_id:
                    yield str(found["ts"]), payload

    def _pages(self, page: Callable[[str], SlackResponse]) -> Iterator[SlackResponse]:
        """Yield the answers of ten pages.

        Raises:
            SlackCallError: there are more: what was not found may be there all the same.
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
        """Return the id of a channel that is given as `#data`: history needs an id."""

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
