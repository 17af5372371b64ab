"""Counts of what the API served, apart from the gate: they show answers without an audit row.

The counter knows by name which paths are open, and sees every response.
"""

import re
import threading
import uuid

import msgspec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from lineage.process.clock import Clock, to_micros

# Whole paths: one that merely begins like an open one is not open. Requests of Slack and PagerDuty
# bear a signature in the place of a token: `service/incidents` checks it. A browser is given its
# token's cookie, or rid of it, before its owner can be known.
OPEN_PATHS = re.compile(
    r"(/livez|/readyz|/login|/logout|/api/v1/slack/interactions|/api/v1/pagerduty/events"
    r"|/runbooks(/[A-Za-z_-]{0,64})?|/listener/[a-z0-9_.-]{1,64})/?"
)
_REQUEST_ID = "request_id"
_MOST_WAITING = 100_000
_OK, _NOT_OK = 200, 300


class ServedResponse(msgspec.Struct, frozen=True):
    """Response that left; times in µs."""

    request_id: str
    asked_at: int
    answered_at: int


class ServedLog:
    """Responses since the log was last read; bounded, with a count of those beyond the bound."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[ServedResponse] = []
        self._lost = 0

    def add(self, answered: ServedResponse) -> None:
        """Note one."""
        with self._lock:
            if len(self._waiting) < _MOST_WAITING:
                self._waiting.append(answered)
            else:
                self._lost += 1

    def take(self) -> tuple[list[ServedResponse], int]:
        """Return and remove the waiting responses, with the count of those that did not fit."""
        with self._lock:
            taken, lost = self._waiting, self._lost
            self._waiting, self._lost = [], 0
            return taken, lost

    def give_back(self, answered: list[ServedResponse], lost: int) -> None:
        """Take back responses that could not be judged yet."""
        with self._lock:
            waiting = answered + self._waiting
            self._waiting = waiting[:_MOST_WAITING]
            self._lost += lost + len(waiting) - len(self._waiting)


class ServedCounter:
    """ASGI middleware around the gate; gives each request the id that its audit row bears."""

    def __init__(self, app: ASGIApp, log: ServedLog, clock: Clock) -> None:
        self._app = app
        self._log = log
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, and note that it was."""
        if OPEN_PATHS.fullmatch(scope["path"]):
            await self._app(scope, receive, send)
            return
        request_id = scope["state"][_REQUEST_ID] = uuid.uuid4().hex
        asked_at = to_micros(self._clock())

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and _OK <= message["status"] < _NOT_OK:
                self._log.add(ServedResponse(request_id, asked_at, to_micros(self._clock())))
            await send(message)

        await self._app(scope, receive, watched)
