"""Guarded API with an open incident, users who may answer it, and Slack."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine

from alerts.notify.settings import DeliverySettings
from lineage.process.clock import to_micros
from service.api.access.guard import Guard
from service.api.app import create_app
from service.incidents import incident_commands
from tests.alerts.operator_actions.incident_catalog import IncidentCatalog
from tests.service.api.access.estate import NOW, TOKENS, Estate, immediate_policy

SECRET = "8f742231b10e8888abcd99yyyzzz85a5"  # noqa: S105 - of nobody
PATH = "/api/v1/slack/interactions"
POLICY = """\
time_zone: Europe/Berlin
access:
  tokens:
    - {name: boss, sha256: %(boss)s, roles: [admin]}
    - {name: shop, sha256: %(shop)s, roles: [respond]}
    - {name: clerk, token_file: clerk.token, roles: [read]}
    - {name: late, sha256: %(late)s, roles: [respond], namespaces: ["s3://shop", "hive://shop"]}
"""


class Answering(Estate):
    """`shop` is the token of those who respond, `clerk` reads, `late` may not see everything."""

    def __init__(self, catalog: Engine, folder: Path) -> None:
        self.secret_file = folder / "slack.secret"
        self.secret_file.write_text(SECRET)
        super().__init__(catalog, folder)
        self.write_policy(POLICY)
        self.incidents = IncidentCatalog(catalog, to_micros(NOW - timedelta(seconds=60)))

    def restart(self) -> None:
        """Start a new process with Slack set up."""
        self.guard = Guard(self.settings, lambda: self.now, immediate_policy(self.policy))
        delivery = DeliverySettings(
            slack_signing_secret_file=self.secret_file,
            pagerduty_webhook_secret_file=self.secret_file,
        )
        app = create_app(self.settings, lambda: self.now, guard=self.guard, delivery=delivery)
        client = TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)
        self.client: TestClient[Any] = client

    def send(
        self,
        method: str,
        path: str,
        body: dict[str, Any] | None = None,
        who: str | None = "shop",
        **headers: str,
    ) -> httpx.Response:
        """Ask for something, with JSON."""
        shown = {} if who is None else {"Authorization": f"Bearer {TOKENS[who]}"}
        kind = {"Content-Type": "application/json"}
        content = None if body is None else json.dumps(body)
        answer: httpx.Response = self.client.request(
            method, path, content=content, headers={**shown, **kind, **headers}
        )
        return answer

    def act(
        self, action: str, body: dict[str, Any] | None = None, who: str | None = "shop"
    ) -> httpx.Response:
        """Send an action for the only incident."""
        return self.send("POST", f"/api/v1/incidents/{self.incidents.one.id}/{action}", body, who)

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Evaluate in another thread, so that requests get their answer."""
        stop = threading.Event()

        def evaluate() -> None:
            while not stop.wait(0.02):
                self.incidents.turn((to_micros(self.now) - self.incidents.start) / 1e6)

        thread = threading.Thread(target=evaluate)
        thread.start()
        try:
            with pytest.MonkeyPatch.context() as patient:
                patient.setattr(incident_commands, "WAIT_SECONDS", 60.0)
                yield
        finally:
            stop.set()
            thread.join()

    def audit_rows(self) -> list[tuple[Any, ...]]:
        """Return person, interface, action and answer of each audit row."""
        return self.rows("SELECT who, via, action, answer FROM audit ORDER BY id")

    def press(self, action: str = "acknowledge", **text: str | None) -> httpx.Response:
        """Press a button, as Slack posts it."""
        chosen = {"incident_id": self.incidents.one.id} | text
        return self.post_signed(press_body(action, **chosen))  # type: ignore[arg-type]

    def post_signed(
        self, body: bytes, *, path: str = PATH, **wrong: str | int | bytes
    ) -> httpx.Response:
        """Post what Slack signs; `wrong` replaces a part of it."""
        seconds = str(wrong.get("timestamp", int(self.now.timestamp())))
        signature = sign(wrong.get("signed", body), seconds, wrong.get("secret", SECRET))
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Slack-Request-Timestamp": seconds,
            "X-Slack-Signature": wrong.get("signature", signature),
        }
        answer: httpx.Response = self.client.post(path, content=body, headers=headers)
        return answer


def sign(body: bytes, seconds: str, secret: str = SECRET) -> str:
    """Sign as Slack does."""
    digest = hmac.new(secret.encode(), f"v0:{seconds}:".encode() + body, hashlib.sha256)
    return f"v0={digest.hexdigest()}"


def press_body(
    action: str, *, incident_id: str, choice: str | None = None, user: str = "U012AB3CD"
) -> bytes:
    """Return the body of a press, as Slack encodes it."""
    did: dict[str, Any] = {"action_id": f"lineward_{action}"}
    if choice is None:
        did["value"] = incident_id
    else:
        did["selected_option"] = {"value": f"{choice} {incident_id}"}
    payload = {
        "type": "block_actions",
        "user": {"id": user, "username": "ann", "team_id": "T1"},
        "actions": [did],
        "response_url": "https://hooks.slack.test/never/asked",
    }
    return urlencode({"payload": json.dumps(payload)}).encode()
