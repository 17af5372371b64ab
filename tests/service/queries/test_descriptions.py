"""Descriptions and tags that producers report, where people and Marquez's clients read them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine, insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop, shop_columns

_CORE = {"dataset": shop.CORE}
_PII = {"key": "pii", "value": "true", "source": "DBT"}
_MARKUP = "<b>orders</b>"


@pytest.fixture
def client(embedded: Engine) -> Iterator[TestClient[Any]]:
    """Serve the API over the shop: `core/orders`, its column `id` and its job are described."""
    shop.fill(embedded)
    shop_columns.fill(embedded)
    core = shop.dataset_key(shop.CORE)
    texts = {
        ("dataset", core): _MARKUP,
        ("fields", core): '{"id":"the key"}',
        ("job", key("jobs", "etl")): "Loads orders",
        ("job", key("jobs", "etl.insert")): "Inserts orders",
        ("job_tags", key("jobs", "etl.insert")): json.dumps([_PII]),
    }
    tag = {"dataset_key": core, "tag": "pii", "value": "true", "source": "DBT", "last_seen_at": 1}
    with write_transaction(embedded) as connection:
        rows = [
            {"subject": one, "subject_key": of, "text": text, "last_seen_at": 1}
            for (one, of), text in texts.items()
        ]
        connection.execute(insert(tables.description), rows)
        connection.execute(insert(tables.tag), [tag])
        connection.execute(insert(tables.field_tag), [{**tag, "tag_key": 1, "field": "id"}])
        connection.execute(update(tables.run).values(tags=json.dumps([_PII])))
    settings = Settings(catalog_url=embedded.url.render_as_string(hide_password=False))
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        yield client


def _get(client, path, **params: str):
    answer = client.get(path, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_dataset_and_its_columns_have_descriptions_and_tags(client):
    """Show them in answers and on the page, as text and not as markup."""
    known = _get(client, "/api/v1/dataset", **_CORE)
    first, second, _ = _get(client, "/api/v1/columns", **_CORE)["columns"]
    page = client.get("/dataset", params=_CORE).text

    assert (known["description"], known["tags"], known["partial"]) == (_MARKUP, [_PII], False)
    assert (first["description"], first["tags"]) == ("the key", [_PII])
    assert (second["description"], second["tags"]) == (None, [])
    assert "&lt;b&gt;orders&lt;/b&gt;" in page
    assert _MARKUP not in page
    assert "the key" in page
    assert 'title="by DBT"' in page


def test_answer_to_why_ends_with_description_and_tags(client):
    """Print them as sentences, after the states."""
    sentences = _get(client, "/api/v1/why", **_CORE)["sentences"]

    assert sentences[-2:] == [f"Its description: {_MARKUP}.", "Its tags: pii."]


def test_a_run_has_its_tags(client):
    """Show them in the answer and on the run's page."""
    (run,) = _get(client, f"/api/v1/runs/{shop.RUN_ID}")["runs"]
    page = client.get(f"/runs/{shop.RUN_ID}").text

    assert run["tags"] == [_PII]
    assert 'title="by DBT"' in page


def test_marquez_s_clients_get_descriptions_and_tags(client):
    """Show them in the graph and in the read API alike."""
    graph = _get(client, "/api/v1/lineage", nodeId=f"dataset:{shop.NAMESPACE}:{shop.CORE}")["graph"]
    nodes = {node["id"]: node["data"] for node in graph}
    namespace = shop.NAMESPACE.replace("/", "%2F").replace(":", "%3A")
    ours = _get(client, f"/api/v1/namespaces/{namespace}/datasets/{shop.CORE}")

    for dataset in (nodes[f"dataset:{shop.NAMESPACE}:{shop.CORE}"], ours):
        assert (dataset["description"], dataset["tags"]) == (_MARKUP, ["pii"])
        assert dataset["fields"][0] == {
            "name": "id",
            "type": "bigint",
            "tags": ["pii"],
            "description": "the key",
        }
    assert nodes["job:jobs:etl"]["description"] == "Loads orders"
    one = _get(client, "/api/v1/namespaces/jobs/jobs/etl.insert")
    listed = _get(client, "/api/v1/jobs")["jobs"]
    for job in (one, *(job for job in listed if job["name"] == "etl.insert")):
        assert (job["description"], job["tags"]) == ("Inserts orders", ["pii"])
