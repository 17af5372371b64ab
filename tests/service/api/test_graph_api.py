"""Neighbourhood of a dataset and its newest runs, as dashboards request them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.process.clock import Clock
from service.api.app import create_app
from service.queries import node_graph
from service.runtime.settings import Settings
from tests.service import shop

pytestmark = pytest.mark.postgres_nightly

CORE = {"dataset": shop.CORE, "dataset_namespace": shop.NAMESPACE}


def _client(catalog: Engine, **more: Clock) -> TestClient:
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))
    return TestClient(create_app(settings, **more), base_url="http://127.0.0.1")


@pytest.fixture
def client(catalog: Engine) -> Iterator[TestClient]:
    """Start the API over the shop."""
    shop.fill(catalog)
    with _client(catalog) as client:
        yield client


def test_nodes_and_edges_are_of_one_neighbourhood(client):
    """Return each dataset and pair once, in both directions, with a node for each end."""
    nodes = client.get("/api/v1/graph/nodes", params=CORE).json()
    edges = client.get("/api/v1/graph/edges", params=CORE).json()

    names = {node["id"]: node["dataset"] for node in nodes["nodes"]}
    pairs = {(names[edge["source"]], names[edge["target"]]) for edge in edges["edges"]}
    assert sorted(names.values()) == sorted(shop.NAMES)
    through = {(shop.RAW, shop.CORE), (shop.REF, shop.CORE), (shop.CORE, shop.MART)}
    past = {(shop.RAW, shop.MART)}  # no walk from core goes by it
    assert pairs == through | past
    assert len({edge["id"] for edge in edges["edges"]}) == len(edges["edges"]) == 4
    assert (nodes["partial"], edges["partial"]) == (False, False)


def test_an_edge_ends_at_listed_nodes(client, catalog):
    """Leave out an edge whose other end has no row, as a node graph would not draw it."""
    ends = {"upstream_key": shop.dataset_key(shop.CORE), "downstream_key": 40}
    seen = {"first_seen_at": 0, "last_seen_at": 0, "runs": 1}
    with write_transaction(catalog) as connection:
        job = {"job_key": 1, "job_namespace": "jobs", "job_name": "gone"}
        connection.execute(insert(tables.edge), [{**ends, **seen, **job}])

    nodes = client.get("/api/v1/graph/nodes", params=CORE).json()["nodes"]
    edges = client.get("/api/v1/graph/edges", params=CORE).json()["edges"]

    fields = {edge[end] for edge in edges for end in ("source", "target")}
    assert fields <= {node["id"] for node in nodes}


def test_an_empty_name_has_an_empty_graph_with_the_reason(client):
    """Return no rows to a dashboard without a selection, and reject a missing parameter."""
    for path, rows in (("graph/nodes", "nodes"), ("graph/edges", "edges"), ("runs", "runs")):
        found = client.get(f"/api/v1/{path}", params={"dataset": "", "dataset_namespace": ""})
        assert found.status_code == 200
        answer = found.json()
        assert (answer[rows], answer["partial_reason"]) == ([], "no dataset is selected")
        assert (answer["dataset_namespace"], answer["partial"]) == (None, True)
        assert client.get(f"/api/v1/{path}").status_code == 400


def test_a_node_has_colour_and_reason_of_its_state(client):
    """Set one arc to 1, that of its state, and list the requested dataset first, highlighted."""
    core, *others = client.get("/api/v1/graph/nodes", params=CORE).json()["nodes"]

    answer = ("title", "mainstat", "secondarystat", "arc__bad", "arc__good", "highlighted", "owner")
    assert [core[name] for name in answer] == ["orders", "bad", "job_failed", 1, 0, True, "sales"]
    arcs = [sum(value for name, value in node.items() if name[:5] == "arc__") for node in others]
    assert (arcs, [node["highlighted"] for node in others]) == ([1, 1, 1], [False] * 3)


def test_when_the_pipeline_is_dead_nothing_is_green(catalog):
    """Show what was good as unknown."""
    then = datetime.now(UTC)
    shop.fill(catalog, evaluated_at=then)
    states = {}
    for minutes in (0, 5):
        now = then + timedelta(minutes=minutes)
        with _client(catalog, clock=lambda now=now: now) as client:
            nodes = client.get("/api/v1/graph/nodes", params=CORE).json()["nodes"]
        states[minutes] = [node["mainstat"] for node in nodes if node["dataset"] == shop.RAW]

    assert states == {0: ["good"], 5: ["unknown"]}


def test_a_cut_graph_has_the_reason(client, monkeypatch):
    """Keep the nearest datasets when depth or size is limited."""
    near = client.get("/api/v1/graph/nodes", params={**CORE, "dataset": shop.RAW, "depth": 1})
    assert near.json()["partial_reason"] is None  # mart is a step from raw, by another way
    monkeypatch.setattr(node_graph, "MOST_DRAWN", 2)
    cut = client.get("/api/v1/graph/nodes", params=CORE).json()

    assert (len(cut["nodes"]), cut["nodes"][0]["dataset"]) == (2, shop.CORE)
    assert cut["partial_reason"] == "the nearest 2 of 4 datasets shown"
    edges = client.get("/api/v1/graph/edges", params=CORE).json()
    assert (len(edges["edges"]), edges["partial"]) == (1, True)


def test_a_graph_may_be_limited(client):
    """Return the same nearest datasets in both answers."""
    asked = {**CORE, "limit": 1}

    nodes = client.get("/api/v1/graph/nodes", params=asked).json()
    edges = client.get("/api/v1/graph/edges", params=asked).json()

    assert [node["dataset"] for node in nodes["nodes"]] == [shop.CORE]
    assert (edges["edges"], nodes["partial_reason"]) == (
        *([], "the nearest 1 of 4 datasets shown"),
    )


def test_runs_of_a_dataset_have_the_times_of_their_events(client):
    """Return the state, the lineage and the time of arrival."""
    (run,) = client.get("/api/v1/runs", params=CORE).json()["runs"]

    times = [run[name] for name in ("first_event_at", "last_event_at", "landed_at")]
    assert times == [f"2026-11-20T0{time}:00.000Z" for time in ("2:00", "2:30", "2:30")]
    assert (run["status"], run["direction"], run["duration_seconds"]) == ("FAIL", "write", 1800)
    assert (run["inputs"], run["outputs"], run["evidence"]) == (1, 1, None)


def test_a_run_whose_start_nobody_reported_has_no_duration(client, catalog):
    """Show no duration of 0 s where Airflow or a Python client sent the end alone."""
    with write_transaction(catalog) as connection:
        connection.execute(tables.run.update().values(started_at=None, first_event_at=shop.at(2.5)))

    (recent,) = client.get("/api/v1/runs", params=CORE).json()["runs"]
    (run,) = client.get(f"/api/v1/runs/{shop.RUN_ID}").json()["runs"]
    graph = client.get(
        "/api/v1/lineage", params={"nodeId": f"dataset:{shop.NAMESPACE}:{shop.CORE}"}
    )
    (latest,) = (
        each["data"]["latestRun"] for each in graph.json()["graph"] if each["type"] == "JOB"
    )

    for each in (recent, run):
        assert (each["started_at"], each["duration_seconds"]) == (None, None)
        assert each["finished_at"] == "2026-11-20T02:30:00.000Z"
    assert (latest["startedAt"], latest["durationMs"]) == (None, None)


def test_the_newest_runs_come_first_and_a_cut_list_has_a_note(client, catalog):
    """Sort by time, and return one row for a run that reads and writes."""
    core = shop.dataset_key(shop.CORE)
    with write_transaction(catalog) as connection:
        newer = {**shop.run_row(), "run_key": 2, "run_id": "newer", "failed_at": None}
        connection.execute(insert(tables.run), [newer])
        ios = [shop.io_row(2, core, way) for way in ("read", "write")]
        rows = [{**io, "last_event_at": shop.at(3)} for io in ios]
        connection.execute(insert(tables.run_io), rows)

    found = client.get("/api/v1/runs", params={**CORE, "limit": 1}).json()

    assert [(run["run_id"], run["direction"]) for run in found["runs"]] == [("newer", "both")]
    assert (found["partial"], found["partial_reason"]) == (*(True, "1 shown; older ones exist"),)


@pytest.mark.parametrize("path", ["graph/nodes", "graph/edges", "runs"])
def test_an_unknown_dataset_is_404_and_none_is_400(client, path):
    """Name candidates, and the missing parameter."""
    unknown = client.get(f"/api/v1/{path}", params={"dataset": "core/order"})
    none = client.get(f"/api/v1/{path}")

    assert (unknown.status_code, none.status_code) == (404, 400)
    assert unknown.json()["candidates"]
    assert "dataset" in none.json()["detail"]
