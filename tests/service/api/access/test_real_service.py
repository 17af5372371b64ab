"""Guarded service as a process: its real server, real paths, and a kill."""

import hashlib
import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from tests.service import shop
from tests.service.commandline import environ
from tests.suite.ports import free_port
from tests.suite.waiting import until

_TOKEN = "boss-0123456789abcdef"  # noqa: S105 - of this test
_QUERY = "/api/v1/lineage?dataset=core/orders"
_TRICKS = (
    _QUERY,
    f"/{_QUERY}",
    "/api/v1/../v1/lineage?dataset=core/orders",
    "/livez/../api/v1/lineage?dataset=core/orders",
    "/livez/%2e%2e/api/v1/lineage?dataset=core/orders",
    "/api/v1/%6cineage?dataset=core/orders",
    "/api/v1/lineage/?dataset=core/orders",
    "/api%2fv1%2flineage?dataset=core/orders",
    "/api/v1/lineage;x?dataset=core/orders",
    "/API/V1/LINEAGE?dataset=core/orders",
    "http://127.0.0.1/api/v1/lineage?dataset=core/orders",
    "/schema",
    "/schema/openapi.json",
    "/api/v1/status",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a data folder with the shop, and a policy with one token."""
    engine = open_catalog(catalog_url(tmp_path))
    migrate(engine)
    shop.fill(engine)
    engine.dispose()
    digest = hashlib.sha256(_TOKEN.encode()).hexdigest()
    policy = f"access: {{tokens: [{{name: boss, sha256: {digest}}}]}}\n"
    (tmp_path / "lineward.yaml").write_text(policy)
    return tmp_path


@contextmanager
def _serving(folder: Path, **settings: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start the role on a free port, and kill it at the end if it still runs."""
    port, metrics = free_port(), free_port()
    variables = environ(
        LINEWARD_DATA_DIR=str(folder),
        LINEWARD_POLICY=str(folder / "lineward.yaml"),
        LINEWARD_SERVICE_PORT=str(port),
        LINEWARD_METRICS_PORT=str(metrics),
        **settings,
    )
    with (folder / "service.log").open("ab") as log:
        command = [sys.executable, "-m", "service"]
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=log)
    try:
        until(lambda: _is_up(port))
        yield process, port
    finally:
        process.kill()
        process.wait()


def _ask(port: int, target: str, token: str | None = None, method: str = "GET") -> tuple[int, str]:
    """Return status and body of a request whose target is sent unchanged."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.putrequest(method, target, skip_accept_encoding=True)
    if token:
        connection.putheader("Authorization", f"Bearer {token}")
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def _is_up(port: int) -> bool:
    try:
        return _ask(port, "/livez")[0] == 200
    except OSError:
        return False


def _query_counts(engine: Engine) -> dict[str, float]:
    """Return good accesses, and all queries."""
    with engine.connect() as connection:
        query = "SELECT sli, good, total FROM served_counter WHERE sli IN ('M7', 'M10')"
        rows: Any = connection.execute(text(query))
        return {sli: good if sli == "M10" else total for sli, good, total in rows}


def test_no_target_leads_around_the_gate_of_the_real_server(folder):
    """Send paths that client libraries would normalize, and get no answer without a token."""
    with _serving(folder) as (_, port):
        found = {target: _ask(port, target) for target in _TRICKS}
        methods = {name: _ask(port, _QUERY, method=name)[0] for name in ("HEAD", "POST", "PUT")}
        allowed = _ask(port, _QUERY, _TOKEN)

    assert {status for status, _ in found.values()} <= {400, 401, 404}
    assert not [target for target, (_, body) in found.items() if shop.MART in body]
    assert set(methods.values()) <= {401, 404, 405}
    assert json.loads(allowed[1])["dataset"] == shop.CORE
    assert _TOKEN not in (folder / "service.log").read_text()


def test_counters_survive_a_kill(folder):
    """Keep what was stored, and add the accesses of the next service once each."""
    engine = open_catalog(catalog_url(folder))
    with _serving(folder) as (process, port):
        for _ in range(3):
            assert _ask(port, _QUERY, _TOKEN)[0] == 200
        assert _ask(port, _QUERY)[0] == 401
        until(lambda: _query_counts(engine) == {"M7": 3.0, "M10": 3.0})
        process.kill()
        process.wait()

    with _serving(folder) as (process, port):
        assert _ask(port, _QUERY, _TOKEN)[0] == 200
        # Its last turn comes with the end: nothing need be waited for.
        process.terminate()
        assert process.wait(30) == 0

    found = _query_counts(engine)
    engine.dispose()
    assert found == {"M7": 4.0, "M10": 4.0}


def test_the_next_service_judges_what_a_killed_one_left(folder):
    """Judge all rows after a kill, as each row is durable before its answer."""
    engine = open_catalog(catalog_url(folder))
    with _serving(folder) as (process, port):
        statuses = [_ask(port, _QUERY, _TOKEN)[0] for _ in range(20)]
        process.kill()
        process.wait()
    with _serving(folder):
        until(lambda: _query_counts(engine).get("M10") == 20.0)

    engine.dispose()
    assert statuses == [200] * 20


def test_an_invalid_policy_opens_the_service_to_nobody(folder: Path):
    """Serve other machines with 503, also once the file is valid and has no tokens."""
    policy = folder / "lineward.yaml"
    guarded = policy.read_text("utf-8")
    policy.write_text("owners: [")
    with _serving(folder, LINEWARD_HOST="0.0.0.0") as (_, port):  # noqa: S104 - what is guarded
        assert _ask(port, _QUERY, _TOKEN)[0] == 503
        policy.write_text("owners: []\n")
        until(lambda: "the section access is gone" in (folder / "service.log").read_text("utf-8"))
        assert _ask(port, _QUERY)[0] == 503
        policy.write_text(guarded)
        until(lambda: _ask(port, _QUERY, _TOKEN)[0] == 200)
        assert _ask(port, _QUERY)[0] == 401
