"""Service whose PostgreSQL drops packets: alive, not ready, and able to recover."""

import pytest
from litestar.testing import TestClient
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

from lineage.catalog import reader as readers
from lineage.catalog.reader import keep_connections
from service.api.app import create_app
from service.exporter.metrics import CatalogCollector
from service.runtime.settings import Settings
from tests.lineage.catalog.proxy import running_proxy
from tests.service import shop
from tests.suite.waiting import until

pytestmark = pytest.mark.postgres


@pytest.fixture
def proxy(catalog):
    """Start a proxy before a catalog with the shop on PostgreSQL, as a file cannot be silent."""
    shop.fill(catalog)
    with running_proxy(catalog.url) as found:
        yield found


def scrape(settings):
    """Return the text of `/metrics`."""
    registry = CollectorRegistry()
    registry.register(CatalogCollector(settings))
    ProcessCollector(registry=registry)
    return generate_latest(registry).decode()


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_silent_catalog_holds_up_neither_probes_nor_scrapes(proxy, monkeypatch):
    """Answer 503 and the metrics without a catalog until it answers again."""
    monkeypatch.setattr(readers, "_kept", {})
    keep_connections(proxy.url, 3)
    settings = Settings(catalog_url=proxy.url)
    client = TestClient(
        create_app(settings), base_url="http://127.0.0.1", raise_server_exceptions=False
    )
    assert client.get("/readyz").status_code == 200
    assert "lineage_catalog_readable 1.0" in scrape(settings)
    proxy.stall()

    assert client.get("/readyz").status_code == 503
    assert client.get("/livez").status_code == 200
    assert client.get("/api/v1/datasets").status_code == 503
    scraped = scrape(settings)
    assert "lineage_catalog_readable 0.0" in scraped
    assert "process_resident_memory_bytes" in scraped
    assert "lineage_build_info" in scraped
    proxy.resume()

    until(lambda: client.get("/readyz").status_code == 200)
    assert "lineage_catalog_readable 1.0" in scrape(settings)


def test_a_server_that_is_down_leaves_the_metrics(postgres_server):
    """Show the counters that need no catalog when nothing listens there."""
    url = postgres_server.url.set(host="127.0.0.1", port=1, query={})
    settings = Settings(catalog_url=url.render_as_string(hide_password=False))

    scraped = scrape(settings)

    assert "lineage_catalog_readable 0.0" in scraped
    assert "process_resident_memory_bytes" in scraped
