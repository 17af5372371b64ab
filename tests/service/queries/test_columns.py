"""Columns of datasets and their lineage, as the API answers."""

from collections.abc import Iterator
from typing import Any

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.queries import column_lineage, columns
from tests.service import shop, shop_columns
from tests.service.marquez_graphs import over_the_shop

pytestmark = pytest.mark.postgres_nightly

_COLUMNS = "/api/v1/columns"
_LINEAGE = "/api/v1/column-lineage"
_SEEN = {
    "first_seen_at": "2026-11-20T00:00:00.000Z",
    "last_seen_at": "2026-11-20T01:00:00.000Z",
}
_SUM = {
    "type": "DIRECT",
    "subtype": "AGGREGATION",
    "description": "sum(amount)",
    "masking": True,
}


@pytest.fixture
def client(catalog: Engine) -> Iterator[TestClient[Any]]:
    """Serve the API over the shop with its columns."""
    with over_the_shop(catalog) as client:
        shop_columns.fill(catalog)
        yield client


def _columns(client, dataset, **more: object):
    answer = client.get(_COLUMNS, params={"dataset": dataset, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def _lineage(client, dataset, column, **more: object):
    answer = client.get(_LINEAGE, params={"dataset": dataset, "column": column, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def _flat(nodes):
    """Return dataset, column and subtree of each node."""
    return [(node["dataset"], node["column"], _flat(node["children"])) for node in nodes]


def test_columns_are_listed_with_type_sources_and_uses(client):
    """List columns in the order of the schema, each with its direct edges."""
    found = _columns(client, shop.CORE)

    assert [(row["column"], row["type"]) for row in found["columns"]] == [
        ("id", "bigint"),
        ("amount", "decimal(9,2)"),
        ("note", "string"),
    ]
    _, amount, note = found["columns"]
    source = {"dataset_namespace": shop.NAMESPACE, "dataset": shop.RAW, "column": "amount"}
    use = {"dataset_namespace": shop.NAMESPACE, "dataset": shop.MART, "column": "total"}
    assert amount["sources"] == [{**source, "transformations": [], **_SEEN}]
    assert amount["uses"] == [{**use, "transformations": [_SUM], **_SEEN}]
    assert (note["sources"], note["uses"], found["partial"]) == ([], [], False)


def test_a_column_that_no_schema_names_is_listed_too(client):
    """List a column of column lineage, although `mart/daily` has no schema."""
    (total,) = _columns(client, shop.MART)["columns"]

    assert (total["column"], total["type"]) == ("total", None)
    assert {(one["dataset"], one["column"]) for one in total["sources"]} == {
        (shop.CORE, "amount"),
        (shop.RAW, "amount"),
    }


def test_a_cut_list_of_columns_is_partial(client, monkeypatch):
    """Cut by the number of columns, and of their sources."""
    few = _columns(client, shop.CORE, limit=2)
    monkeypatch.setattr(columns, "_MOST_ENDS", 1)
    ends = _columns(client, shop.MART)

    assert (len(few["columns"]), few["partial_reason"]) == (2, "2 of 3 columns")
    assert len(ends["columns"][0]["sources"]) == 1
    assert ends["partial_reason"] == "at most 1 sources and 1 uses"


def test_the_lineage_of_a_column_is_two_trees(client):
    """Draw a source once that is also a source of the other source."""
    found = _lineage(client, shop.MART, "total")

    assert _flat(found["upstream"]) == [
        (shop.CORE, "amount", [(shop.RAW, "amount", [])]),
        (shop.RAW, "amount", []),
    ]
    assert found["upstream"][0]["children"][0]["repeated"] is True
    assert found["upstream"][0]["transformations"] == [_SUM]
    assert (found["downstream"], found["partial"], found["depth"]) == ([], False, 5)
    down = _lineage(client, shop.RAW, "amount")
    assert [node["column"] for node in down["downstream"]] == ["amount", "total"]
    assert (down["type"], down["upstream"]) == ("double", [])


def test_a_column_that_is_made_of_itself_ends_the_walk(client):
    """Accept a MERGE that reports each column as its own source."""
    found = _lineage(client, shop.CORE, "id")

    assert _flat(found["upstream"]) == [(shop.RAW, "id", [])]
    assert found["downstream"] == []


def test_direction_and_depth_are_applied(client):
    """Say that more lies beyond the depth."""
    up = _lineage(client, shop.MART, "total", direction="upstream", depth=1)
    down = _lineage(client, shop.RAW, "id", direction="downstream", depth=1)

    assert _flat(up["upstream"]) == [(shop.CORE, "amount", []), (shop.RAW, "amount", [])]
    assert (up["partial"], down["downstream"][0]["column"]) == (False, "id")
    assert (up["downstream"], down["upstream"]) == ([], [])


def test_edges_beyond_the_depth_are_reported(client, catalog):
    """Add a further step from `total`."""
    with write_transaction(catalog) as connection:
        more = shop_columns.edge(shop.REF, "rate", shop.RAW, "amount", None)
        connection.execute(insert(tables.column_edge), [more])

    found = _lineage(client, shop.MART, "total", depth=1)

    assert found["partial_reason"] == "upstream: there are more beyond depth 1"
    assert _lineage(client, shop.MART, "total", depth=2)["partial"] is False


@pytest.mark.parametrize(
    ("bound", "most", "reason"),
    [
        ("MOST_COLUMNS", 1, "upstream: more than 1 columns"),
        ("_MOST_EDGES", 1, "upstream: more than 1 edges of one step"),
    ],
)
def test_a_walk_that_is_too_large_is_cut(client, monkeypatch, bound, most, reason):
    """Let two columns feed `total`."""
    monkeypatch.setattr(column_lineage, bound, most)

    assert _lineage(client, shop.MART, "total")["partial_reason"] == reason


def test_columns_of_many_queries_are_those_of_one(client, monkeypatch):
    """Ask for so many columns at a time."""
    whole = _lineage(client, shop.MART, "total")
    monkeypatch.setattr(column_lineage, "_PAIRS", 1)

    assert _lineage(client, shop.MART, "total") == whole


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        ({"dataset": shop.CORE, "column": "amont"}, 404, "Known columns include: amount"),
        ({"dataset": "core/zzz", "column": "id"}, 404, "no dataset is named"),
        ({"dataset": shop.CORE}, 400, "give both"),
        ({"dataset": shop.CORE, "column": "id", "depth": 0}, 400, "expected 1 to 100"),
        ({}, 400, "give both"),
    ],
)
def test_an_invalid_query_has_a_reason(client, asked, code, words):
    """Suggest columns of that dataset."""
    rejected = client.get(_LINEAGE, params=asked)

    assert rejected.status_code == code
    assert words in rejected.json()["detail"]
    if "amont" in asked.values():
        assert rejected.json()["candidates"] == ["amount"]


@pytest.mark.parametrize("way", ["upstream", "downstream"])
def test_each_step_of_a_walk_searches_an_index(embedded, way):
    """Read only the edges of the frontier, of 10^6 column edges."""
    plans = _Plans(embedded)

    column_lineage.edges_of(plans, way, [(1, "a"), (2, "b")])

    (steps,) = plans.found
    assert any(step.startswith("SEARCH e USING") for step in steps), steps
    assert not any(step.startswith("SCAN e") for step in steps), steps


class _Plans:
    """Reader that notes how SQLite would answer."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.found: list[list[str]] = []

    def rows(self, sql: str, values: dict[str, Any]) -> list[Any]:
        """Return no row."""
        with self._engine.connect() as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values).all()
        self.found.append([row[3] for row in plan])
        return []
