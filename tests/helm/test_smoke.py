"""Run the script of `helm test` against a server that answers as Lineward does."""

import importlib.util
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import ModuleType
from typing import Any

import pytest

from collector.events import parse_event
from collector.settings import Limits
from tests.helm.charts import CHART

pytestmark = pytest.mark.xdist_group("helm")


class _Lineward(BaseHTTPRequestHandler):
    """Service that stores events, and answers with SLIs from the second question on."""

    events: list[bytes]
    questions: int
    states: list[dict[str, Any]]

    def do_POST(self) -> None:
        """Store the event, if the token is right."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_known = self.headers["Authorization"] == "Bearer secret"
        if is_known:
            type(self).events.append(body)
        self._answer(201 if is_known else 401, {})

    def do_GET(self) -> None:
        """Answer as the API does: nothing is known of the dataset at first."""
        type(self).questions += 1
        if type(self).questions == 1:
            self._answer(404, {"title": "Unknown dataset"})
            return
        run_id = json.loads(type(self).events[0])["run"]["runId"]
        self._answer(200, {"last_run": {"run_id": run_id}, "states": type(self).states})

    def _answer(self, status: int, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def lineward() -> Iterator[tuple[type[_Lineward], str]]:
    """Serve a collector and an API on one port."""
    kind = type("Lineward", (_Lineward,), {"events": [], "questions": 0})
    kind.states = [{"sli": "M1", "name": "coverage", "state": "good", "reason": None}]
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield kind, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def smoke(lineward, tmp_path, monkeypatch) -> ModuleType:
    """Load the script with the addresses and the token of the server."""
    (tmp_path / "token").write_text("secret\n")
    for name in ("COLLECTOR_URL", "API_URL"):
        monkeypatch.setenv(name, lineward[1])
    monkeypatch.setenv("COLLECTOR_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("TIMEOUT_SECONDS", "0.5")
    path = CHART / "files" / "smoke_test.py"
    spec = importlib.util.spec_from_file_location("smoke_test", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0.05)
    return module


def test_smoke_passes_when_the_sli_comes_back(smoke, lineward, capsys):
    """Check the events, the printed SLI, and the final drop: no later test run is late."""
    server, _ = lineward

    assert smoke.main() == 0
    assert "M1 coverage of lineward-helm-test/probe: good\n" in capsys.readouterr().out
    events = [json.loads(body) for body in server.events]
    assert [one["eventType"] for one in events] == ["START", "COMPLETE", "COMPLETE"]
    dropped = events[2]["outputs"][0]["facets"]["lifecycleStateChange"]["lifecycleStateChange"]
    assert dropped == "DROP"
    for body in server.events:
        parse_event(body, Limits())


def test_smoke_fails_without_an_sli(smoke, lineward, capsys):
    """Check that a pipeline that does not evaluate fails the test."""
    lineward[0].states = []

    assert smoke.main() == 1
    assert "no SLI of the run in time" in capsys.readouterr().out


def test_smoke_fails_with_a_wrong_token(smoke, tmp_path, capsys):
    """Check that a rejected token fails the test."""
    (tmp_path / "token").write_text("other")

    assert smoke.main() == 1
    assert "failed: " in capsys.readouterr().out
