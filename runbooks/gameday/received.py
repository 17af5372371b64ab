"""Slack, PagerDuty and a ticket webhook that take what is sent to them, and write down who heard.

They know the documented shapes of Block Kit, Events API v2 and a webhook's JSON, and nothing of
the service: what a person can read there is all that the scorer is told.
"""

import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from runbooks.gameday.truth import Name

What = Literal["page", "ticket", "resolved", "other"]
_LINK = re.compile(r"<([^|>]+)\|Full list>")


class Heard(msgspec.Struct, frozen=True):
    """One thing that somebody was told.

    Attributes:
        what: `page` rings somebody; `ticket` is work for the day; `resolved` ends either.
        by: slack, pagerduty or webhook.
        to: whom: the channel, or the file of the routing key.
        full_list: the link behind which everything that is hurt is listed.
    """

    at: int
    what: What
    by: str
    to: str
    incident: str
    root: Name
    owner: str
    full_list: str | None = None


class Receivers:
    """All three, in one process. `heard` grows in the order of arrival.

    Args:
        slack_rings: there is no PagerDuty, and a page in Slack rings once for an incident.
    """

    def __init__(self, *, slack_rings: bool = False) -> None:
        self.heard: list[Heard] = []
        self._slack_rings = slack_rings
        self._posts = 0
        self._ringing: set[tuple[str, str]] = set()

    def slack_post(self, channel: str, fields: Mapping[str, Any], at: int) -> str:
        """`chat.postMessage`; returns the `ts`. Replies in threads ring nobody and are let pass."""
        self._posts += 1
        if "thread_ts" not in fields:
            self._slack(channel, fields, at, is_new=True)
        return f"{at // 1_000_000}.{self._posts:06d}"

    def slack_update(self, channel: str, fields: Mapping[str, Any], at: int) -> None:
        """`chat.update`: an edit rings nobody, and may say that it is over."""
        self._slack(channel, fields, at, is_new=False)

    def _slack(self, channel: str, fields: Mapping[str, Any], at: int, *, is_new: bool) -> None:
        blocks = fields["blocks"]
        title = _text(blocks[0]["text"])
        said = dict(_fields(blocks))
        incident, is_over = said.get("Incident", ""), title.startswith("Resolved: ")
        is_ticket = is_new and title.startswith("Ticket: ")
        rings = self._slack_rings and title.startswith("Page: ")
        is_page = self._begins_to_ring((channel, incident), rings=rings, is_over=is_over)
        links = _LINK.search(json.dumps(blocks))
        self.heard.append(
            Heard(
                at=at,
                what="page" if is_page else _what("ticket", is_new=is_ticket, is_over=is_over),
                by="slack",
                to=channel,
                incident=incident,
                root=_root(said.get("Root", "")),
                owner=said.get("Owner", ""),
                full_list=html.unescape(links[1]) if links else None,
            )
        )

    def pagerduty(self, key: str, event: Mapping[str, Any], at: int) -> None:
        """An event of API v2. A trigger rings, unless its alert is there already."""
        alert, action = (key, event["dedup_key"]), event["event_action"]
        is_over = action == "resolve"
        is_new = self._begins_to_ring(alert, rings=action == "trigger", is_over=is_over)
        payload = event.get("payload", {})
        source = str(payload.get("source", ""))
        links = {link["text"]: link["href"] for link in event.get("links", ())}
        self.heard.append(
            Heard(
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

    def _begins_to_ring(self, alert: tuple[str, str], *, rings: bool, is_over: bool) -> bool:
        """Whether this one rings: what stands rings nobody again until it is over."""
        is_new = rings and alert not in self._ringing
        if rings:
            self._ringing.add(alert)
        elif is_over:
            self._ringing.discard(alert)
        return is_new

    def webhook(self, name: str, body: bytes, at: int) -> None:
        """A message as JSON."""
        told = json.loads(body)
        is_ticket = told["kind"] == "opened" and told["severity"] == "ticket"
        root = told["root"]
        self.heard.append(
            Heard(
                at=at,
                what=_what("ticket", is_new=is_ticket, is_over=told["kind"] == "resolved"),
                by="webhook",
                to=name,
                incident=told["incident_id"],
                root=Name(root["namespace"], root["name"]),
                owner=told["owner"],
                full_list=(told.get("links") or {}).get("full_list"),
            )
        )


def _what(new: What, *, is_new: bool, is_over: bool) -> What:
    if is_new:
        return new
    return "resolved" if is_over else "other"


def _text(element: Mapping[str, Any]) -> str:
    return html.unescape(str(element["text"]))


def _fields(blocks: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """`Root: …`, `Owner: …` of the fields, and `Incident …` of the context."""
    for block in blocks:
        for element in block.get("fields", ()):
            name, _, value = _text(element).partition(": ")
            yield name, value
        for element in block.get("elements", ()) if block["type"] == "context" else ():
            name, _, value = _text(element).partition(" ")
            yield name, value


def _root(said: str) -> Name:
    """Of `kind namespace name`, the name with spaces or without; the service has no namespace."""
    parts = said.split(" ", 2)[1:]
    return Name(*parts) if len(parts) > 1 else Name("", *parts or [""])
