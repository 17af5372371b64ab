"""Old catalogs hold times that no calendar has: no answer, page or command fails on one."""

import pytest
from litestar.testing import TestClient
from sqlalchemy import BigInteger, Column, Table

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.commandline import lineward
from tests.service.explorer import estate

STORED = (-(2**63), -62_135_600_400_000_000, 253_402_336_799_000_000, 2**63 - 1)
_OF_EVENTS = ("run", "run_io", "dataset", "dataset_alias", "dataset_activity", "dataset_write")
_OF_EDGES = ("edge", "edge_run", "schema_version", "dataset_version", "dataset_checksum")
_OF_EDGES += ("column_edge",)
PATHS = (
    *("/", "/datasets", "/dataset?dataset=core/orders", "/incidents?all=true"),
    *(f"/incidents/{estate.INCIDENT}", f"/runs/{shop.RUN_ID}"),
    f"/runs/{estate.EARLIER_RUN}/diff/{estate.ROOT_RUN}",
    *("/api/v1/datasets", "/api/v1/dataset?dataset=core/orders", "/api/v1/slis"),
    *("/api/v1/why?dataset=core/orders", "/api/v1/why?dataset=raw/orders"),
    *("/api/v1/history?dataset=core/orders", "/api/v1/impact?dataset=raw/orders"),
    *("/api/v1/lineage?dataset=core/orders", "/api/v1/runs?dataset=core/orders"),
    "/api/v1/lineage?at=2026-11-20T02:00:00Z&dataset=core/orders",
    f"/api/v1/lineage?nodeId=dataset:{shop.NAMESPACE}:core/orders",
    *("/api/v1/columns?dataset=core/orders", "/api/v1/columns?dataset=raw/orders"),
    "/api/v1/column-lineage?dataset=core/orders&column=id",
    f"/api/v1/column-lineage?nodeId=dataset:{shop.NAMESPACE}:core/orders&withDownstream=true",
    *("/jobs", "/api/v1/last-runs", "/unsourced-reads", "/api/v1/unsourced-reads"),
    *("/api/v1/graph/nodes?dataset=raw/orders", "/api/v1/graph/edges?dataset=raw/orders"),
    *(f"/api/v1/runs/{shop.RUN_ID}", "/api/v1/incidents", f"/api/v1/incidents/{estate.INCIDENT}"),
)


def _instants(table: Table) -> list[Column[int]]:
    return [
        column
        for column in table.columns
        if column.name.endswith("_at") and not column.primary_key
        if isinstance(column.type, BigInteger)
    ]


@pytest.fixture(params=STORED)
def stored(request, catalog):
    """Return a shop in which each time of an event is this number."""
    estate.fill(catalog)
    with write_transaction(catalog) as connection:
        for name in (*_OF_EVENTS, *_OF_EDGES):
            table = tables.metadata.tables[name]
            odd = {column.name: request.param for column in _instants(table)}
            connection.execute(table.update().values(odd))
    return catalog


def test_every_answer_and_page_is_200_with_any_times(stored):
    """Answer 200 in the API and the explorer."""
    settings = Settings(catalog_url=stored.url.render_as_string(hide_password=False))
    app = create_app(settings, lambda: estate.NOW)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        found = {path: client.get(path).status_code for path in PATHS}

    assert found == dict.fromkeys(PATHS, 200)


@pytest.mark.parametrize(
    "asked",
    [("runs", "core/orders"), ("history", "core/orders"), ("why", "core/orders")],
    ids=lambda asked: asked[0],
)
def test_every_command_answers(stored, asked):
    """Exit code 0, and no traceback."""
    done = lineward(*asked, catalog=stored)

    assert (done.returncode, done.stderr) == (0, "")


def test_a_time_without_a_date_is_null_in_json(catalog):
    """Return null instead of the nearest date, which was never sent."""
    shop.fill(catalog)
    with write_transaction(catalog) as connection:
        connection.exec_driver_sql("UPDATE run SET nominal_start_at = -62135600400000000")
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        (run,) = client.get(f"/api/v1/runs/{shop.RUN_ID}").json()["runs"]

    assert run["nominal_start_at"] is None
