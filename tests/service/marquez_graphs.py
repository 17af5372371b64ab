"""Graphs of the API in Marquez's shape, over the shop."""

from typing import Any

from litestar.testing import TestClient
from sqlalchemy import Engine

from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop

CORE = f"dataset:{shop.NAMESPACE}:{shop.CORE}"
JOB = "job:jobs:etl"


def over_the_shop(catalog: Engine) -> TestClient[Any]:
    """Fill the catalog with the shop, and return a client of the API."""
    shop.fill(catalog)
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))
    return TestClient(create_app(settings), base_url="http://127.0.0.1")


def graph_of(client: TestClient[Any], node_id: str, **more: int) -> dict[str, dict[str, Any]]:
    """Return the nodes of a graph by id."""
    answer = client.get("/api/v1/lineage", params={"nodeId": node_id, **more})
    assert answer.status_code == 200, answer.text
    return {node["id"]: node for node in answer.json()["graph"]}
