"""`GET /api/v1/column-lineage?nodeId=`: the shape of Marquez 0.51."""

from collections.abc import Iterator
from typing import Any

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine

from tests.service import shop, shop_columns
from tests.service.marquez_graphs import over_the_shop

pytestmark = pytest.mark.postgres_nightly


def _id(dataset: str, column: str) -> str:
    return f"datasetField:{shop.NAMESPACE}:{dataset}:{column}"


_RAW, _CORE, _TOTAL = (
    _id(shop.RAW, "amount"),
    _id(shop.CORE, "amount"),
    _id(shop.MART, "total"),
)


@pytest.fixture
def client(catalog: Engine) -> Iterator[TestClient[Any]]:
    """Serve the API over the shop with its columns."""
    with over_the_shop(catalog) as client:
        shop_columns.fill(catalog)
        yield client


def _graph(client, node_id, **more: object):
    answer = client.get("/api/v1/column-lineage", params={"nodeId": node_id, **more})
    assert answer.status_code == 200, answer.text
    return {node["id"]: node for node in answer.json()["graph"]}


def test_a_column_s_node_has_what_marquez_s_has(client):
    """Show its type and its input fields; edges begin at the node itself."""
    graph = _graph(client, _CORE, withDownstream=True)

    name = {"namespace": shop.NAMESPACE, "dataset_namespace": shop.NAMESPACE}
    fields = {"transformationDescription": None, "transformationType": None}
    source = {**name, "dataset": shop.RAW, "datasetVersion": None, "field": "amount", **fields}
    assert graph[_CORE] == {
        "id": _CORE,
        "type": "DATASET_FIELD",
        "data": {
            **name,
            "dataset": shop.CORE,
            "datasetVersion": None,
            "field": "amount",
            "fieldType": "decimal(9,2)",
            **fields,
            "inputFields": [source],
        },
        "inEdges": [{"origin": _CORE, "destination": _RAW}],
        "outEdges": [{"origin": _CORE, "destination": _TOTAL}],
    }
    of_core, of_raw = graph[_TOTAL]["data"]["inputFields"]
    assert (of_core["dataset"], of_raw["dataset"]) == (shop.CORE, shop.RAW)
    assert of_core["transformationType"] == "AGGREGATION"
    assert of_core["transformationDescription"] == "sum(amount)"
    assert graph[_TOTAL]["data"]["fieldType"] == ""


def test_downstream_is_shown_on_request(client):
    """Show upstream alone by default, as Marquez does."""
    assert set(_graph(client, _CORE)) == {_RAW, _CORE}
    assert set(_graph(client, _TOTAL)) == {_RAW, _CORE, _TOTAL}
    assert set(_graph(client, _TOTAL, depth=1)) == {_RAW, _CORE, _TOTAL}
    assert set(_graph(client, _RAW)) == set()


def test_a_dataset_stands_for_all_of_its_columns(client):
    """Leave out columns without an edge, as Marquez does."""
    found = _graph(client, f"dataset:{shop.NAMESPACE}:{shop.CORE}")

    assert set(found) == {_RAW, _CORE, _id(shop.RAW, "id"), _id(shop.CORE, "id")}


@pytest.mark.parametrize(
    ("node_id", "code"),
    [
        (_id(shop.CORE, "zzz"), 404),
        (_id("core/zzz", "id"), 404),
        (f"dataset:{shop.NAMESPACE}:zzz", 404),
        ("datasetField:a:b", 400),
        ("job:jobs:etl", 400),
        ("x", 400),
    ],
)
def test_an_unknown_id_is_rejected(client, node_id, code):
    """Answer an unknown id with Marquez's fields."""
    rejected = client.get("/api/v1/column-lineage", params={"nodeId": node_id})

    assert rejected.status_code == code
    assert code == 400 or rejected.json()["code"] == code


def test_an_id_that_is_encoded_twice_is_decoded(client):
    """Decode parts that Marquez's web page encodes before the browser does."""
    encoded = _CORE.replace("s3://", "s3%3A%2F%2F").replace("core/", "core%2F")

    assert set(_graph(client, encoded)) == {_RAW, _CORE}
