"""Service as a process: a press as Slack posts it, through the real server."""

import http.client
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from tests.alerts.operator_actions.incident_catalog import IncidentCatalog
from tests.service.commandline import environ
from tests.service.incidents.people.answering import PATH, SECRET, press_body, sign
from tests.suite.ports import free_port
from tests.suite.waiting import until


def _status(port: int, method: str, path: str, body: bytes = b"", **headers: Any) -> int:  # noqa: ANN401
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    named = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    connection.request(method, path, body, named)
    status = connection.getresponse().status
    connection.close()
    return status


def _is_up(port: int) -> bool:
    try:
        return _status(port, "GET", "/livez") == 200
    except OSError:
        return False


@pytest.fixture
def port(embedded: Engine, tmp_path: Path) -> Iterator[int]:
    """Start a service whose API needs a token that nobody has, and return its port."""
    (tmp_path / "lineward.yaml").write_text("access: {tokens: []}\n")
    (tmp_path / "secret").write_text(SECRET)
    port = free_port()
    settings = environ(
        LINEWARD_CATALOG_URL=embedded.url.render_as_string(hide_password=False),
        LINEWARD_POLICY=str(tmp_path / "lineward.yaml"),
        LINEWARD_SERVICE_PORT=str(port),
        LINEWARD_METRICS_PORT=str(free_port()),
        LINEWARD_DELIVERY_SLACK_SIGNING_SECRET_FILE=str(tmp_path / "secret"),
    )
    with (tmp_path / "service.log").open("ab") as log:
        command = [sys.executable, "-m", "service"]
        process = subprocess.Popen(command, env=settings, stdout=log, stderr=log)
    try:
        until(lambda: _is_up(port))
        yield port
    finally:
        process.kill()
        process.wait()


def test_the_real_server_accepts_only_a_signed_press(embedded: Engine, port: int):
    """Store a signed press, answer a forged one 401, and guard all other paths."""
    incident = IncidentCatalog(embedded).one.id
    body = press_body("acknowledge", incident_id=incident)
    seconds = str(int(datetime.now(UTC).timestamp()))
    signed = {
        "Content_Type": "application/x-www-form-urlencoded",
        "X_Slack_Request_Timestamp": seconds,
        "X_Slack_Signature": sign(body, seconds),
    }

    codes = [
        _status(port, "POST", PATH, body, **signed),
        _status(port, "POST", PATH, body, **signed | {"X_Slack_Signature": "v0=" + "0" * 64}),
        _status(port, "GET", PATH),
        _status(port, "POST", f"/api/v1/incidents/{incident}/resolve", b"{}"),
        _status(port, "DELETE", "/api/v1/suppressions/1"),
    ]

    assert codes == [200, 401, 405, 401, 401]
    with embedded.connect() as connection:
        rows = connection.execute(text("SELECT action, via FROM incident_command")).all()
    assert [tuple(row) for row in rows] == [("acknowledge", "slack")]
