"""A service whose PostgreSQL drops packets is alive, not ready, and recovers."""

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
from tests.service.waiting import until

pytestmark = pytest.mark.postgres


@pytest.fixture
def proxy(catalog):
    """Before a catalog on PostgreSQL with the shop in it: a file cannot be silent."""
    shop.fill(catalog)
    with running_proxy(catalog.url) as found:
        yield found


def scrape(settings):
    """The text of `/metrics`."""
    registry = CollectorRegistry()
    registry.register(CatalogCollector(settings))
    ProcessCollector(registry=registry)
    return generate_latest(registry).decode()


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_silent_catalog_holds_up_neither_probes_nor_scrapes(proxy, monkeypatch):
    """503 and figures without a catalog; as soon as it answers again, both are back."""
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
    """Nothing listens there: the counters that need no catalog go on."""
    url = postgres_server.url.set(host="127.0.0.1", port=1, query={})
    settings = Settings(catalog_url=url.render_as_string(hide_password=False))

    scraped = scrape(settings)

    assert "lineage_catalog_readable 0.0" in scraped
    assert "process_resident_memory_bytes" in scraped
