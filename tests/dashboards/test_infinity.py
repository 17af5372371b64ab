"""API requests of the Infinity data source, from the committed dashboards.

What is done here is what the plugin does of a `json` query of the source `url` with the parser
`backend`: the data source's base URL and the query's, variables filled; the rows at the root
selector; of each row the columns, by their types.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine

from dashboards.grafana import infinity
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.dashboards.boards import every_panel
from tests.service import shop

HOSTILE = 'a&b=c?d/# +"<img src=x onerror=alert(1)>\u202e'
Frame = dict[str, list[Any]]
_TYPES: dict[str, Callable[[Any], Any]] = {
    "string": lambda value: None if value is None else str(value),
    "number": lambda value: None if value is None else float(value),
    "boolean": bool,
    "timestamp": lambda value: None if value is None else datetime.fromisoformat(value),
}


def _targets(title: str) -> list[dict[str, Any]]:
    found = [panel["targets"] for _, panel in every_panel() if panel["title"] == title]
    return list(found[0])


def _run_query(client: TestClient, target: dict[str, Any], namespace: str, name: str) -> Frame:
    url = target["url"].replace("${dataset_namespace:percentencode}", quote(namespace, safe=""))
    url = url.replace("${dataset:percentencode}", quote(name, safe=""))
    # The plugin parses the query and writes it again: in order, a space as `+`.
    path, _, query = url.partition("?")
    url = f"{path}?{urlencode(sorted(parse_qsl(query, keep_blank_values=True)))}"
    answer = client.request(target["url_options"]["method"], url)
    assert answer.status_code == 200, answer.text
    rows = answer.json()[target["root_selector"]]
    return {
        one["text"]: [_TYPES[one["type"]](row[one["selector"]]) for row in rows]
        for one in target["columns"]
    }


@pytest.fixture
def client(embedded: Engine) -> Iterator[TestClient]:
    """Return a client of the API over the shop, with a dataset whose name would break a URL."""
    shop.fill(embedded)
    shop.add_dataset(embedded, HOSTILE, HOSTILE)
    settings = Settings(catalog_url=embedded.url.render_as_string(hide_password=False))
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as client:
        yield client


def test_the_node_graph_gets_its_two_frames(client):
    """Return unique ids, edges between existing nodes, and arcs that sum to 1."""
    first, second = _targets("Lineage")

    nodes = _run_query(client, first, shop.NAMESPACE, shop.CORE)
    edges = _run_query(client, second, shop.NAMESPACE, shop.CORE)

    assert (first["format"], second["format"]) == ("node-graph-nodes", "node-graph-edges")
    assert sorted(nodes["title"]) == ["countries", "daily", "orders", "orders"]
    assert len(set(nodes["id"])) == 4
    assert len(set(edges["id"])) == len(edges["id"]) == 4
    assert {*edges["source"], *edges["target"]} <= set(nodes["id"])
    arcs = [nodes[name] for name in nodes if name.startswith("arc__")]
    assert [sum(parts) for parts in zip(*arcs, strict=True)] == [1.0] * 4
    assert nodes["mainstat"][0] == "bad"
    assert nodes["arc__bad"][0] == 1.0


def test_every_requested_arc_has_a_colour(client):
    """Colour exactly the fields of the query."""
    (panel,) = [panel for _, panel in every_panel() if panel["type"] == "nodeGraph"]
    nodes = _run_query(client, panel["targets"][0], shop.NAMESPACE, shop.CORE)

    coloured = {arc["field"]: arc["color"] for arc in panel["options"]["nodes"]["arcs"]}
    assert coloured.keys() == {name for name in nodes if name.startswith("arc__")}
    assert coloured["arc__bad"] == "red"


def test_the_table_of_runs_gets_its_columns(client):
    """Return times as timestamps, and unknown values as null."""
    (target,) = _targets("Recent runs")

    runs = _run_query(client, target, shop.NAMESPACE, shop.CORE)

    assert runs["run_id"] == [shop.RUN_ID]
    assert (runs["status"], runs["outputs"], runs["evidence"]) == (["FAIL"], [1.0], [None])
    assert runs["landed_at"][0].isoformat() == "2026-11-20T02:30:00+00:00"


def test_a_name_from_an_event_stays_one_name(client):
    """Encode any name as Grafana's query does, and find the dataset."""
    (target, _) = _targets("Lineage")

    assert _run_query(client, target, HOSTILE, HOSTILE)["dataset"] == [HOSTILE]


def test_without_a_choice_all_is_empty_without_errors(client):
    """Return nothing, as after an installation: Infinity would show a 404 as an error."""
    graph = _targets("Lineage")
    for target in (*graph, *_targets("Recent runs")):
        frame = _run_query(client, target, "", "")
        assert frame.keys() == {one["text"] for one in target["columns"]}
        assert not any(frame.values())


def test_every_api_query_uses_the_chosen_data_source():
    """Use the chosen data source: no query names a host of its own."""
    targets = [target for _, panel in every_panel() for target in panel["targets"]]
    asked = [target for target in targets if "url" in target]

    assert {target["datasource"]["type"] for target in asked} == {infinity.TYPE}
    assert {target["datasource"]["uid"] for target in asked} == {"${infinity}"}
    assert all(target["url"].startswith("/api/v1/") for target in asked)
    assert len(asked) == 3
