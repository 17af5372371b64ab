"""Fixtures of the tests of pages: a shop, its pages on a real server, and a real browser."""

import asyncio
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from granian.constants import Interfaces
from granian.server.embed import Server
from litestar.testing import TestClient
from sqlalchemy import Engine

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service.api.access.estate import Estate
from tests.service.explorer import estate
from tests.suite.ports import free_port
from tests.suite.waiting import until


@pytest.fixture
def shop(embedded: Engine) -> Iterator[TestClient[Any]]:
    """Start the pages of the shop."""
    with pages_of(embedded) as client:
        yield client


@pytest.fixture
def guarded(embedded: Engine, tmp_path: Path) -> Estate:
    """Start pages that need a token."""
    return Estate(embedded, tmp_path)


@contextmanager
def pages_of(catalog: Engine) -> Iterator[TestClient[Any]]:
    """Fill the catalog with the shop, and start its pages."""
    estate.fill(catalog)
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))
    app = create_app(settings, lambda: estate.NOW)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the service's server with the shop's pages on any port, and return its address."""
    folder = tmp_path_factory.mktemp("explorer")
    engine = open_catalog(catalog_url(folder))
    migrate(engine)
    estate.fill(engine)
    estate.set_events_aside(engine)
    estate.reject_events(folder, engine)
    estate.lead(engine)
    engine.dispose()
    with serving(folder) as port:
        yield f"http://127.0.0.1:{port}"


class serving:  # noqa: N801 - read as a word
    """Pages over the catalog in this folder, with the policy in it."""

    def __init__(self, folder: Path) -> None:
        policy = folder / "lineward.yaml"
        settings = Settings(data_dir=folder, policy=policy if policy.exists() else None)
        app = create_app(settings, lambda: estate.NOW)
        self._port = free_port()
        self._server = Server(
            app,
            address="127.0.0.1",
            port=self._port,
            interface=Interfaces.ASGI,
            log_access=False,
        )
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> int:
        self._thread.start()
        until(self._answers)
        return self._port

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._server.stop)
        self._thread.join(10)

    def _run(self) -> None:
        self._loop.run_until_complete(self._server.serve())

    def _answers(self) -> bool:
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self._port)) == 0


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    """Start real Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    binary = shutil.which("chromium") or shutil.which("chromium-browser")
    if binary is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=binary, args=["--no-sandbox"])
        yield launched
        launched.close()
