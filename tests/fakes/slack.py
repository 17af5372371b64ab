"""Slack's Web API as documented, faults included, over HTTP.

Written from the reference of chat.postMessage, chat.update, conversations.history, .replies and
.list, and of Block Kit's limits.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from lineage.process.clock import system_clock, to_micros
from tests.fakes.http_server import Answer, FakeServer, Request

# Mark-up that notifies somebody, or that a client shows as a link.
MENTION = re.compile(r"<[!@#]")
_MAX_BLOCKS, _MAX_TEXT, _MAX_HEADER, _MAX_FIELD = 50, 3_000, 150, 2_000


class FakeSlack(FakeServer):
    """Workspace.

    Attributes:
        token: the valid one.
        channels: names by id; every channel has the app in it.
        messages: all posted ones, by channel id, in order; replies have a `thread_ts`.
        status: answers this to everything, accepting nothing, while it is set.
        page: an HTML page is answered instead of JSON, while it is set.
        limited: seconds of Retry-After by channel id: 429 there, and not elsewhere.
        errors: `ok: false` with this code, by method.
        lost_answers: so many next posts are accepted, and the connection closed without an
    answer.
        mentions: texts that would have notified somebody by their mark-up.
    """

    def __init__(self, clock: Callable[[], datetime] = system_clock) -> None:
        super().__init__()
        self.token = "xoxb-right"  # noqa: S105 - of nobody
        self.channels = {"C0000001": "data", "C0000002": "payments", "C0000009": "platform"}
        self.messages: dict[str, list[dict[str, Any]]] = {name: [] for name in self.channels}
        self.status: int | None = None
        self.page: str | None = None
        self.limited: dict[str, int] = {}
        self.errors: dict[str, str] = {}
        self.lost_answers = 0
        self.mentions: list[str] = []
        self._clock = clock
        self._last_ts = 0
        self._methods: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "conversations.history": self._history,
            "conversations.replies": self._replies,
            "conversations.list": self._list,
        }

    @property
    def url(self) -> str:
        """Return its base URL."""
        return f"http://{self.address}/api/"

    def calls(self, method: str) -> int:
        """Return how often a method was called, with any answer."""
        return sum(request.path == f"/api/{method}" for request in self.requests)

    def posts(self, channel: str) -> list[dict[str, Any]]:
        """Return the messages of a channel that are no replies."""
        return [each for each in self.messages[channel] if "thread_ts" not in each]

    def replies(self, channel: str) -> list[str]:
        """Return the texts of the replies in a channel."""
        return [each["text"] for each in self.messages[channel] if "thread_ts" in each]

    def answer(self, request: Request) -> Answer | None:
        """Answer by method; faults come first."""
        method, fields = request.path.removeprefix("/api/"), request.fields()
        channel = self._id_of(fields.get("channel", ""))
        if self.status is not None:
            return Answer(self.status, self.page or {"ok": False, "error": "internal_error"})
        if self.page is not None:
            return Answer(200, self.page)
        if channel in self.limited:
            retry = (("Retry-After", str(self.limited[channel])),)
            return Answer(429, {"ok": False, "error": "ratelimited"}, retry)
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return Answer(200, {"ok": False, "error": "invalid_auth"})
        if method in self.errors:
            return Answer(200, {"ok": False, "error": self.errors[method]})
        return self._call_method(method, fields)

    def _call_method(self, method: str, fields: dict[str, Any]) -> Answer | None:
        answered = self._methods[method](fields)
        if method == "chat.postMessage" and answered.get("ok") and self.lost_answers:
            self.lost_answers -= 1
            return None
        return Answer(200, {"ok": True} | answered)

    def _post(self, fields: dict[str, Any]) -> dict[str, Any]:
        channel = self._id_of(fields["channel"])
        if channel is None:
            return _error("channel_not_found")
        if (wrong := self._wrong_with(fields)) is not None:
            return _error(wrong)
        ts = self.next_ts()
        self.messages[channel].append(fields | {"ts": ts})
        return {"ok": True, "channel": channel, "ts": ts}

    def _update(self, fields: dict[str, Any]) -> dict[str, Any]:
        found = [m for m in self.messages.get(fields["channel"], ()) if m["ts"] == fields["ts"]]
        if not found:
            return _error("message_not_found")
        if (wrong := self._wrong_with(fields)) is not None:
            return _error(wrong)
        found[0].update(fields)
        return {"channel": fields["channel"], "ts": fields["ts"]}

    def _history(self, fields: dict[str, Any]) -> dict[str, Any]:
        if fields["channel"] not in self.channels:  # the API needs an id, not a name
            return _error("channel_not_found")
        return _paged("messages", self._newest_first(self.posts(fields["channel"]), fields), fields)

    def _replies(self, fields: dict[str, Any]) -> dict[str, Any]:
        thread = [
            each
            for each in self.messages[fields["channel"]]
            if fields["ts"] in (each["ts"], each.get("thread_ts"))
        ]
        return _paged("messages", self._newest_first(thread, fields)[::-1], fields)

    def _list(self, fields: dict[str, Any]) -> dict[str, Any]:
        listed = [{"id": each, "name": name} for each, name in self.channels.items()]
        return _paged("channels", listed, fields)

    def _newest_first(
        self, messages: list[dict[str, Any]], fields: dict[str, Any]
    ) -> list[dict[str, Any]]:
        """Return the newest first, with metadata on request."""
        oldest = float(fields.get("oldest", 0))
        shown = [each for each in messages if float(each["ts"]) > oldest]
        if fields.get("include_all_metadata") not in (True, "1", "true"):
            shown = [{k: v for k, v in each.items() if k != "metadata"} for each in shown]
        return shown[::-1]

    def _id_of(self, channel: str) -> str | None:
        if channel in self.channels:
            return channel
        named = {name: each for each, name in self.channels.items()}
        return named.get(channel.removeprefix("#"))

    def next_ts(self) -> str:
        """Return the timestamp of a message that is posted now."""
        self._last_ts = max(self._last_ts + 1, to_micros(self._clock()))
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def _wrong_with(self, fields: dict[str, Any]) -> str | None:
        texts = [fields.get("text", ""), *texts_of(fields.get("blocks", []))]
        self.mentions += [text for text in texts if MENTION.search(text)]
        if len(fields.get("text", "")) > 40_000:
            return "msg_too_long"
        return None if fits(fields.get("blocks", [])) else "invalid_blocks"


def _error(code: str) -> dict[str, Any]:
    return {"ok": False, "error": code}


def _paged(name: str, rows: list[dict[str, Any]], fields: dict[str, Any]) -> dict[str, Any]:
    start, size = int(fields.get("cursor") or 0), int(fields.get("limit") or 100)
    end = start + size
    cursor = str(end) if end < len(rows) else ""
    return {name: rows[start:end], "response_metadata": {"next_cursor": cursor}}


def texts_of(value: object) -> list[str]:
    """Return every text within."""
    if isinstance(value, dict):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        return own + [text for inner in value.values() for text in texts_of(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in texts_of(inner)]
    return []


def fits(blocks: list[dict[str, Any]]) -> bool:
    """Return whether Slack would accept these blocks."""
    return len(blocks) <= _MAX_BLOCKS and all(map(_block_fits, blocks))


def _block_fits(block: dict[str, Any]) -> bool:
    limit = _MAX_HEADER if block["type"] == "header" else _MAX_TEXT
    text = block["text"]["text"] if "text" in block else "-"
    fields = [field["text"] for field in block.get("fields", [])]
    return 0 < len(text) <= limit and all(0 < len(each) <= _MAX_FIELD for each in fields)
