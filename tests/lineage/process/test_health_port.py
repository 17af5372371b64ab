"""Health port of a role in a container: liveness and readiness."""

import socket

import httpx
import pytest

from lineage.process import health
from lineage.process.health import Health
from lineage.process.health_port import hang_of, serve, serve_health
from tests.suite.ports import free_port


@pytest.fixture
def port() -> int:
    """Return a port that is free."""
    return free_port()


def test_a_role_in_a_container_answers_probes(port, monkeypatch):
    """Probe before, while and after a part fails."""
    monkeypatch.setenv("LINEWARD_HEALTH_PORT", str(port))
    role = Health()

    assert serve_health(role) == port
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
        assert client.get("/readyz").status_code == 200
        role.fail("catalog", "no route to host")
        answer = client.get("/readyz")
        assert (answer.status_code, answer.text) == (503, "catalog: no route to host\n")
        assert client.get("/livez").status_code == 200
        role.succeed("catalog")
        assert client.get("/readyz").status_code == 200
        assert client.get("/other").status_code == 404


def test_a_role_that_hangs_is_not_alive():
    """Count the seconds since the last report."""
    role = Health()

    assert hang_of(role, lambda: role.beat_at + 120)() is None
    assert hang_of(role, lambda: role.beat_at + 121)() == "no sign of life for 121 s"
    role.beat_at -= 200
    role.beat()
    assert hang_of(role)() is None


def test_a_role_of_lineward_up_serves_no_port(port, monkeypatch):
    """Serve nothing: roles of one environment would compete for one port."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    monkeypatch.setenv("LINEWARD_HEALTH_PORT", str(port))
    monkeypatch.setenv(health.VARIABLE, str(theirs.detach()))
    role = Health()
    role.connect()

    assert serve_health(role) is None
    ours.close()


def test_no_port_is_served_without_the_setting(monkeypatch):
    """Check the default."""
    monkeypatch.delenv("LINEWARD_HEALTH_PORT", raising=False)

    assert serve_health(Health()) is None


def test_ipv6_is_served():
    """Serve on the loopback address of IPv6, as in a cluster that has IPv6 only."""
    port = serve("::1", 0, {"/livez": lambda: None})

    assert httpx.get(f"http://[::1]:{port}/livez", trust_env=False).status_code == 200
