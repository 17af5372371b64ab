"""Receiver of webhooks, written from the Standard Webhooks specification."""

import base64
import hashlib
import hmac
import json
from typing import Any

from tests.fakes.http_server import Answer, FakeServer, Request


class FakeReceiver(FakeServer):
    """Server that accepts each id once, and only signed bodies.

    Attributes:
        secret: shared with the sender.
        tickets: accepted bodies, in order, without repeats.
        repeats: ids that came again.
        status: answers this to everything, accepting nothing, while it is set.
        retry_after: seconds, beside the status.
        lost_answers: so many next posts are accepted, and the connection closed without an
    answer.
    """

    def __init__(self) -> None:
        super().__init__()
        self.secret = "between us"  # noqa: S105 - of nobody
        self.tickets: list[dict[str, Any]] = []
        self.repeats: list[str] = []
        self.status: int | None = None
        self.retry_after: int | None = None
        self.lost_answers = 0
        self._ids: set[str] = set()

    @property
    def url(self) -> str:
        """Return the URL for webhooks."""
        return f"http://{self.address}/hook"

    def answer(self, request: Request) -> Answer | None:
        """Answer 204, or the error."""
        if self.status is not None:
            after = () if self.retry_after is None else (("Retry-After", str(self.retry_after)),)
            return Answer(self.status, "", after)
        if not self._is_signed(request):
            return Answer(401, f"no signature made with {self.secret}")
        self._take(request.headers["webhook-id"], request.body)
        if self.lost_answers:
            self.lost_answers -= 1
            return None
        return Answer(200, "")

    def _take(self, delivery_id: str, body: bytes) -> None:
        if delivery_id in self._ids:
            self.repeats.append(delivery_id)
        else:
            self._ids.add(delivery_id)
            self.tickets.append(json.loads(body))

    def _is_signed(self, request: Request) -> bool:
        headers = request.headers
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + request.body
        digest = hmac.new(self.secret.encode(), signed, hashlib.sha256).digest()
        return headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
