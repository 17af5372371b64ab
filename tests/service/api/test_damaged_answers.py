"""Answers of API and pages on a damaged catalog, or one of another release: 503 and the reason."""

import os

import pytest
from litestar.testing import TestClient
from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import text

from lineage.catalog.engine import write_transaction
from lineage.process.clock import system_clock
from service.api.app import create_app
from service.exporter.metrics import CatalogCollector
from service.runtime.settings import Settings
from tests.service import shop

_NAMES = ("datasets", "slis", "status", "set-aside-events")
_PATHS = (
    *("/", "/datasets", "/incidents", "/set-aside-events"),
    *(f"/api/v1/{name}" for name in _NAMES),
)


def _rubbish(catalog, path):
    catalog.dispose()
    path.write_bytes(os.urandom(65_536))


def _cut(catalog, path):
    catalog.dispose()
    os.truncate(path, path.stat().st_size // 4)


def _newer(catalog, _path):
    _set_revision(catalog, "0815")


def _older(catalog, _path):
    _set_revision(catalog, "0001")
    with write_transaction(catalog) as connection:
        for table in ("event_set_aside", "event_requeue"):
            connection.execute(text(f"DROP TABLE {table}"))


def _set_revision(catalog, revision):
    with write_transaction(catalog) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})


@pytest.fixture
def settings(tmp_path, embedded):
    shop.fill(embedded)
    return Settings(data_dir=tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_rubbish, "is damaged: `lineward runbook restoring` prints how to restore it"),
        (_cut, "is damaged: `lineward runbook restoring` prints how to restore it"),
        (_newer, "the catalog is at revision 0815"),
        (_older, "the catalog is at revision 0001, and this release needs"),
    ],
)
def test_every_answer_of_a_damaged_catalog_has_the_remedy(settings, embedded, change, message):
    change(embedded, settings.data_dir / "catalog.db")
    with TestClient(create_app(settings, system_clock), base_url="http://127.0.0.1") as client:
        found = {path: client.get(path) for path in _PATHS}

    assert {path: answer.status_code for path, answer in found.items()} == dict.fromkeys(
        _PATHS, 503
    )
    result = found["/api/v1/datasets"].json()
    assert message in result["detail"]


@pytest.mark.parametrize("change", [_rubbish, _older])
def test_a_damaged_catalog_leaves_the_metrics_that_need_none(settings, embedded, change):
    change(embedded, settings.data_dir / "catalog.db")
    registry = CollectorRegistry()
    registry.register(CatalogCollector(settings))

    shown = generate_latest(registry).decode()

    assert "lineage_catalog_readable 0.0" in shown
    assert "lineage_build_info" in shown
    assert "lineage_sli_" not in shown
