"""Ids of Marquez: their spellings, and unknown ids."""

from collections.abc import Iterator

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.service import shop
from tests.service.marquez_graphs import CORE, graph_of, over_the_shop

pytestmark = pytest.mark.postgres_nightly

_PORTED = "postgres://db:5432"


@pytest.fixture
def client(catalog: Engine) -> Iterator[TestClient]:
    """Start the API over the shop."""
    with over_the_shop(catalog) as client:
        yield client


@pytest.mark.parametrize(
    "node_id",
    [
        CORE,
        f"dataset:s3a://shop:{shop.CORE}",  # a spelling of the namespace
        "dataset:s3%3A%2F%2Fshop:core%2Forders",  # encoded once more than the query asks for
    ],
)
def test_an_id_may_have_another_spelling(client, node_id):
    """Find the dataset under the name that it has in the catalog."""
    assert CORE in graph_of(client, node_id)


@pytest.mark.parametrize("name", ["shop.orders", "a:b:c", "9:30", "x"])
def test_colons_of_namespaces_and_names_are_no_separators(client, catalog, name):
    """Choose the split that gives a name in the catalog."""
    with write_transaction(catalog) as connection:
        rows = [shop.dataset_row(name, _PORTED), shop.dataset_row(name, "plain")]
        connection.execute(insert(tables.dataset), rows)

    for namespace in (_PORTED, "plain"):
        node_id = f"dataset:{namespace}:{name}"
        (node,) = graph_of(client, node_id).values()
        assert node["data"]["id"] == {"namespace": namespace, "name": name}


@pytest.mark.parametrize(
    ("node_id", "message"),
    [
        ("dataset:s3://shop:nothing", "Dataset 's3://shop:nothing' not found."),
        ("job:jobs:nothing", "Job 'jobs:nothing' not found."),
    ],
)
def test_an_unknown_node_is_404_in_marquez_s_words(client, node_id, message):
    """Add `code` and `message`, which Marquez's clients read, to the fields of every error."""
    rejected = client.get("/api/v1/lineage", params={"nodeId": node_id})

    answer = rejected.json()
    assert (rejected.status_code, answer["code"], answer["message"]) == (404, 404, message)
    assert (answer["status"], answer["detail"]) == (404, message)


@pytest.mark.parametrize(
    ("asked", "detail"),
    [
        ({"nodeId": "run:0195"}, "nodeId: expected dataset:NAMESPACE:NAME or job:NAMESPACE:NAME"),
        ({"nodeId": "dataset:alone"}, "nodeId: expected dataset:NAMESPACE:NAME"),
        ({"nodeId": CORE, "dataset": "core"}, "dataset: missing; give a dataset"),
        ({"nodeId": CORE, "depth": 101}, "depth"),
        ({"nodeId": CORE, "at": "2026-11-20T12:00:00Z"}, "at: not supported with nodeId"),
    ],
)
def test_an_invalid_request_is_400(client, asked, detail):
    """Name the parameter."""
    rejected = client.get("/api/v1/lineage", params=asked)

    assert (rejected.status_code, detail in rejected.json()["detail"]) == (400, True)
