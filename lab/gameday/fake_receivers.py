"""Fake Slack, PagerDuty and ticket webhook that accept messages and record them.

They know the documented shapes of Block Kit, Events API v2 and a webhook's JSON, and nothing of
the service: the scorer knows only what a person can read there.
"""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from lab.gameday.truth_shapes import SECOND_MICROS, NamePattern

_What = Literal["page", "ticket", "resolved", "other"]
_LINK = re.compile(r"<([^|>]+)\|Full list>")
_OWN = "Lineward's "


class ReceivedMessage(msgspec.Struct, frozen=True):
    """Message that somebody received.

    Attributes:
        what: `page` pages somebody; `ticket` is work for the day; `resolved` ends either.
        by: slack, pagerduty or webhook.
        to: whom: the channel, or the file of the routing key.
        full_list: the link behind which all affected datasets are listed.
    """

    at: int
    what: _What
    by: str
    to: str
    incident: str
    root: NamePattern
    owner: str
    full_list: str | None = None


class Receivers:
    """Receivers of all three, in one process. `messages` grows in the order of arrival.

    Args:
        slack_pages: there is no PagerDuty, and a page in Slack pages once for an incident.
    """

    def __init__(self, *, slack_pages: bool = False) -> None:
        self.messages: list[ReceivedMessage] = []
        self._slack_pages = slack_pages
        self._posts = 0
        self._paging: set[tuple[str, str]] = set()

    def slack_post(self, channel: str, fields: Mapping[str, Any], at: int) -> str:
        """Handle `chat.postMessage`; return the `ts`. Replies in threads are ignored."""
        self._posts += 1
        if "thread_ts" not in fields:
            self._slack(channel, fields, at, is_new=True)
        return f"{at // SECOND_MICROS}.{self._posts:06d}"

    def slack_update(self, channel: str, fields: Mapping[str, Any], at: int) -> None:
        """Handle `chat.update`: an edit pages nobody, and may mark the incident resolved."""
        self._slack(channel, fields, at, is_new=False)

    def _slack(self, channel: str, fields: Mapping[str, Any], at: int, *, is_new: bool) -> None:
        blocks = fields["blocks"]
        title = _text(blocks[0]["text"])
        shown = dict(_fields(blocks))
        incident, is_over = shown.get("Incident", ""), title.startswith("Resolved: ")
        is_ticket = is_new and title.startswith("Ticket: ")
        is_trigger = self._slack_pages and title.startswith("Page: ")
        is_page = self._begins_to_page((channel, incident), is_trigger=is_trigger, is_over=is_over)
        links = _LINK.search(json.dumps(blocks))
        self.messages.append(
            ReceivedMessage(
                at=at,
                what="page" if is_page else _what("ticket", is_new=is_ticket, is_over=is_over),
                by="slack",
                to=channel,
                incident=incident,
                root=_root(shown.get("Root", "")),
                owner=shown.get("Owner", ""),
                full_list=html.unescape(links[1]) if links else None,
            )
        )

    def pagerduty(self, key: str, event: Mapping[str, Any], at: int) -> None:
        """Handle an event of API v2. A trigger pages, unless its alert exists already."""
        alert, action = (key, event["dedup_key"]), event["event_action"]
        is_over = action == "resolve"
        is_new = self._begins_to_page(alert, is_trigger=action == "trigger", is_over=is_over)
        payload = event.get("payload", {})
        source = str(payload.get("source", ""))
        links = {link["text"]: link["href"] for link in event.get("links", ())}
        self.messages.append(
            ReceivedMessage(
                at=at,
                what=_what("page", is_new=is_new, is_over=is_over),
                by="pagerduty",
                to=key,
                incident=event["dedup_key"],
                root=_root(f"- {source}"),
                owner=str(payload.get("group", "")),
                full_list=links.get("Full list"),
            )
        )

    def _begins_to_page(self, alert: tuple[str, str], *, is_trigger: bool, is_over: bool) -> bool:
        """Return whether this one pages: an open alert pages nobody again until it is resolved."""
        is_new = is_trigger and alert not in self._paging
        if is_trigger:
            self._paging.add(alert)
        elif is_over:
            self._paging.discard(alert)
        return is_new

    def webhook(self, name: str, body: bytes, at: int) -> None:
        """Handle a message as JSON."""
        message = json.loads(body)
        is_ticket = message["kind"] == "opened" and message["severity"] == "ticket"
        root = message["root"]
        self.messages.append(
            ReceivedMessage(
                at=at,
                what=_what("ticket", is_new=is_ticket, is_over=message["kind"] == "resolved"),
                by="webhook",
                to=name,
                incident=message["incident_id"],
                root=NamePattern(root["namespace"], root["name"]),
                owner=message["owner"],
                full_list=(message.get("links") or {}).get("full_list"),
            )
        )


def _what(new: _What, *, is_new: bool, is_over: bool) -> _What:
    if is_new:
        return new
    return "resolved" if is_over else "other"


def _text(element: Mapping[str, Any]) -> str:
    return html.unescape(str(element["text"]))


def _fields(blocks: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Return `Root: …`, `Owner: …` of the fields, and `Incident …` of the context."""
    for block in blocks:
        for element in block.get("fields", ()):
            name, _, value = _text(element).partition(": ")
            yield name, value
        for element in block.get("elements", ()) if block["type"] == "context" else ():
            name, _, value = _text(element).partition(" ")
            yield name, value


def _root(text: str) -> NamePattern:
    """Return the name in `kind namespace name`; names may have spaces.

    A part of Lineward has its own words: `Lineward's role NAME`.
    """
    if text.startswith(_OWN):
        return NamePattern("lineward", text.removeprefix(_OWN).removeprefix("role "))
    parts = text.split(" ", 2)[1:]
    return NamePattern(*parts) if len(parts) > 1 else NamePattern("", *parts or [""])
