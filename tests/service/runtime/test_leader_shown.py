"""Leader as every replica shows it; a follower answers, with metrics of its own."""

import pytest
from litestar.testing import TestClient
from prometheus_client import CollectorRegistry
from sqlalchemy import update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.leases import release, try_take
from service.api.app import create_app
from service.exporter.metrics import CatalogCollector
from service.runtime.settings import Settings
from tests.service.commandline import lineward
from tests.service.explorer import estate

_NO_LEADER = "no leader"


@pytest.fixture
def shown(embedded, tmp_path):
    """Make a catalog with datasets, and the settings of a service over it."""
    estate.fill(embedded)
    return embedded, Settings(data_dir=tmp_path)


def _samples(settings, *, leads):
    registry = CollectorRegistry()
    registry.register(CatalogCollector(settings, lambda: estate.NOW, leads=lambda: leads))
    return {each.name: each for family in registry.collect() for each in family.samples}


def test_a_follower_exports_nothing_that_the_leader_exports(shown):
    """Export no metric of the catalog, which rules would add for each replica."""
    _, settings = shown
    leader, follower = (_samples(settings, leads=each) for each in (True, False))

    assert (leader["lineage_service_leader"].value, follower["lineage_service_leader"].value) == (
        1,
        0,
    )
    assert set(follower) == {
        "lineage_build_info",
        "lineage_service_leader",
        "lineage_catalog_readable",
        "lineage_policy_in_force",
        "lineage_policy_rejected",
    }
    assert set(follower) < set(leader)
    assert follower["lineage_catalog_readable"].value == 1


def test_every_replica_shows_which_service_leads_and_answers(shown):
    """Show it by the API and the first page; be ready as leader and as follower."""
    engine, settings = shown
    app = create_app(settings, lambda: estate.NOW)
    with TestClient(app, base_url="http://127.0.0.1") as client:

        def ask():
            return client.get("/api/v1/status").json()["leader"], client.get("/").text

        assert client.get("/readyz").status_code == 200
        leader, page = ask()
        assert (leader, _NO_LEADER in page) == (None, True)
        assert try_take(engine, "service", "pod-a", 3_600) is not None
        leader, page = ask()
        assert (leader["replica"], leader["is_leading"], _NO_LEADER in page) == (
            "pod-a",
            True,
            False,
        )
        release(engine, "service", 1)
        leader, page = ask()
        assert (leader["is_leading"], _NO_LEADER in page) == (False, True)


def test_the_status_command_shows_which_service_leads(shown):
    """Print the time since when it leads, by the database's clock."""
    engine, settings = shown
    assert try_take(engine, "service", "pod-a", 3_600) is not None
    with write_transaction(engine) as connection:
        connection.execute(update(tables.lease).values(since=1_795_000_000_000_000))

    printed = lineward("status", "--data-dir", str(settings.data_dir), TZ="UTC").stdout

    assert "leader: service pod-a since 2026-11-18 11:06:40 UTC" in printed
