"""Probes of roles in their own containers while they wait for the catalog."""

import importlib
import os
import signal
import tempfile

import httpx
import pytest

from lineage.process import role as starting
from lineage.process.health import HEALTH
from tests.suite.ports import free_port


@pytest.fixture
def port(monkeypatch) -> int:
    """Choose a free port, and let no role change what belongs to this process."""
    found = free_port()
    monkeypatch.setenv("LINEWARD_HEALTH_PORT", str(found))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(starting, "log_to_stderr", lambda: None)
    monkeypatch.setattr(os, "umask", lambda _: 0)
    monkeypatch.setattr(tempfile, "tempdir", tempfile.gettempdir())
    # Other tests of this process left failures of their own.
    monkeypatch.setattr(HEALTH, "_failures", {})
    return found


@pytest.mark.parametrize("role", ["slis", "service.ingest.marquez", "service.ingest.kubernetes"])
def test_a_role_that_waits_for_the_catalog_is_alive(role, port, monkeypatch, tmp_path):
    """Ask each role where it waits: Kubernetes would restart one that answers nothing."""
    module = importlib.import_module(f"{role}.__main__")
    answers = []

    def ask(_ready: object, stopped: object) -> bool:
        answers.append(httpx.get(f"http://127.0.0.1:{port}/livez", trust_env=False).status_code)
        stopped.set()
        return False

    async def do_nothing(*_: object) -> None:
        """Stand in for the work of the marquez role."""

    monkeypatch.setenv("LINEWARD_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("LINEWARD_MARQUEZ_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("LINEWARD_KUBERNETES_URL", "https://127.0.0.1:1")
    monkeypatch.setenv("LINEWARD_KUBERNETES_NAMESPACES", "jobs")
    monkeypatch.setattr(module, "await_catalog", ask)
    if role == "service.ingest.marquez":
        monkeypatch.setattr(module, "serve_marquez", do_nothing)

    assert module.main() == 0
    assert answers == [200]


def test_the_kafka_source_answers_probes(port, monkeypatch):
    """Ask the role before it reads its topic."""
    module = importlib.import_module("service.ingest.kafka.__main__")

    class NoConsumer:
        """Stand-in for the client of a Kafka."""

        def __init__(self, _: object) -> None:
            """Take any settings."""

        def subscribe(self, _: object) -> None:
            """Ask the role's port."""
            answer = httpx.get(f"http://127.0.0.1:{port}/readyz", trust_env=False)
            raise KeyboardInterrupt(answer.status_code)

    monkeypatch.setenv("LINEWARD_KAFKA_BOOTSTRAP", "127.0.0.1:1")
    monkeypatch.setattr(module, "Consumer", NoConsumer)

    with pytest.raises(KeyboardInterrupt, match="200"):
        module.main()
