"""`GET /api/v1/lineage?nodeId=` for clients of Marquez."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine, insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from service.queries import walk
from service.queries.marquez_api import ids, lineage
from tests.service import shop
from tests.service.marquez_graphs import CORE, JOB, graph_of, over_the_shop

pytestmark = pytest.mark.postgres_nightly

RAW, MART, REF = (f"dataset:{shop.NAMESPACE}:{name}" for name in (shop.RAW, shop.MART, shop.REF))


@pytest.fixture
def client(catalog: Engine) -> Iterator[TestClient]:
    """Start the API over the shop."""
    with over_the_shop(catalog) as client:
        yield client


def _walk(graph: dict[str, dict[str, Any]], start: str, edges: str, end: str) -> set[str]:
    """Walk from edge to edge by ids, as Marquez's web page does."""
    found, queue = set(), [start]
    while queue:
        here = queue.pop()
        if here in graph and here not in found:
            found.add(here)
            queue += [edge[end] for edge in graph[here][edges]]
    return found - {start}


def test_a_dataset_s_node_has_what_marquez_s_has(client, catalog):
    """Return names, times, columns and tags; `data.id` is an object, the node's id a text."""
    fields = '[{"name":"id","type":"long"},{"name":"sum"}]'
    core = {"dataset_key": shop.dataset_key(shop.CORE)}
    seen = {"first_seen_at": shop.at(0), "last_seen_at": shop.at(1)}
    with write_transaction(catalog) as connection:
        values = {**core, **seen, "schema_key": 1, "fields": fields}
        connection.execute(insert(tables.schema_version), [values])
        tag = {**core, "tag": "pii", "value": "", "last_seen_at": 0}
        connection.execute(insert(tables.tag), [tag])

    node = graph_of(client, CORE)[CORE]

    name = {"namespace": shop.NAMESPACE, "name": shop.CORE}
    plain = {"tags": [], "description": None}
    assert node == {
        "id": CORE,
        "type": "DATASET",
        "data": {
            "id": name,
            "type": "DB_TABLE",
            **name,
            "physicalName": shop.CORE,
            "sourceName": shop.NAMESPACE,
            "createdAt": "2026-11-20T00:00:00.000Z",
            "updatedAt": "2026-11-20T03:00:00.000Z",
            "lastModifiedAt": "2026-11-20T01:00:00.000Z",
            "fields": [
                {"name": "id", "type": "long", **plain},
                {"name": "sum", "type": None, **plain},
            ],
            "tags": ["pii"],
            "description": None,
            "dataset_namespace": shop.NAMESPACE,
            "dataset": shop.CORE,
        },
        "inEdges": [{"origin": JOB, "destination": CORE}],
        "outEdges": [{"origin": CORE, "destination": JOB}],
    }


def test_a_job_s_node_has_what_marquez_s_has(client):
    """Return inputs, outputs and the end of the newest run."""
    node = graph_of(client, CORE)[JOB]

    assert (node["type"], node["data"]["type"], node["data"]["simpleName"]) == (
        *("JOB", "BATCH", "etl"),
    )
    assert [one["name"] for one in node["data"]["inputs"]] == [shop.CORE, shop.RAW, shop.REF]
    assert [one["name"] for one in node["data"]["outputs"]] == [shop.CORE, shop.MART]
    assert [edge["origin"] for edge in node["inEdges"]] == [CORE, RAW, REF]
    assert [edge["destination"] for edge in node["outEdges"]] == [CORE, MART]
    run = node["data"]["latestRun"]
    assert (run["state"], run["durationMs"]) == ("FAILED", 1_800_000)
    assert (run["startedAt"], run["endedAt"]) == (
        *("2026-11-20T02:00:00.000Z", "2026-11-20T02:30:00.000Z"),
    )


def test_a_walk_as_by_marquez_s_page_reaches_all_lineage(client, catalog):
    """Reach the same datasets as in Lineward's own answer."""
    _chain(catalog, "one", "two", "three", "four")
    ours = client.get("/api/v1/lineage", params={"dataset": "three"}).json()

    graph = graph_of(client, "dataset:far:three")

    up = _walk(graph, "dataset:far:three", "inEdges", "origin")
    down = _walk(graph, "dataset:far:three", "outEdges", "destination")
    assert _datasets(up) == set(_dataset_names(ours["upstream"])) == {"one", "two"}
    assert _datasets(down) == set(_dataset_names(ours["downstream"])) == {"four"}
    ends = {edge["origin"] for node in graph.values() for edge in node["inEdges"]}
    ends |= {edge["destination"] for node in graph.values() for edge in node["outEdges"]}
    assert ends <= graph.keys()


def _datasets(ids: set[str]) -> set[str]:
    return {one.rpartition(":")[2] for one in ids if one.startswith("dataset:")}


def _dataset_names(nodes: list[dict[str, Any]]) -> Iterator[str]:
    for node in nodes:
        yield node["dataset"]
        yield from _dataset_names(node["children"])


def _chain(engine: Engine, *names: str, job: str = "by {}") -> None:
    """Add datasets that are each made from the one before, by a job each."""
    with write_transaction(engine) as connection:
        rows = [shop.dataset_row(name, "far") for name in names]
        connection.execute(insert(tables.dataset), rows)
        for up, down in pairwise(names):
            seen = {"first_seen_at": 0, "last_seen_at": 0, "runs": 1}
            ends = {"upstream_key": key("far", up), "downstream_key": key("far", down)}
            named = {"job_key": 1, "job_namespace": "far", "job_name": job.format(down)}
            connection.execute(insert(tables.edge), [{**seen, **ends, **named}])


def test_depth_counts_jobs_beyond_the_first_as_in_marquez(client, catalog):
    """Return a job with its datasets at 0, use 20 by default, and mark a cut graph."""
    _chain(catalog, *(f"d{number:02}" for number in range(30)))
    found = {}
    for depth in (0, 1, None):
        asked = {} if depth is None else {"depth": depth}
        found[depth] = _datasets(set(graph_of(client, "dataset:far:d29", **asked)))

    assert found[0] == {"d28", "d29"}
    assert found[1] == {"d27", "d28", "d29"}
    assert len(found[None]) == 22
    cut = client.get("/api/v1/lineage", params={"nodeId": "dataset:far:d29", "depth": 1}).json()
    assert (cut["partial"], cut["partial_reason"]) == (
        *(True, "upstream: there are more beyond depth 2"),
    )
    whole = client.get("/api/v1/lineage", params={"nodeId": CORE}).json()
    assert (whole["partial"], whole["partial_reason"]) == (False, None)


def test_a_graph_that_is_too_large_is_cut(client, catalog, monkeypatch):
    """Use the bound of every walk."""
    _chain(catalog, *"abcdefgh")
    monkeypatch.setattr(walk, "MOST_NODES", 3)

    answer = client.get("/api/v1/lineage", params={"nodeId": "dataset:far:h"}).json()

    assert answer["partial_reason"] == "upstream: more than 3 datasets"
    assert len([node for node in answer["graph"] if node["type"] == "DATASET"]) == 4


def test_a_job_with_too_many_runs_is_partial(client, catalog, monkeypatch):
    """Leave out what only older runs wrote."""
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.run), [shop.run_row() | {"run_key": 9, "run_id": "r9"}])
    whole = client.get("/api/v1/lineage", params={"nodeId": JOB}).json()
    monkeypatch.setattr(ids, "MOST_RUNS_OF_JOB", 1)
    monkeypatch.setattr(lineage, "MOST_RUNS_OF_JOB", 1)
    cut = client.get("/api/v1/lineage", params={"nodeId": JOB}).json()

    assert (whole["partial"], cut["partial"]) == (False, True)
    assert cut["partial_reason"] == "the datasets of the job's newest 1 runs"


def test_a_job_leads_up_from_what_it_reads_and_down_from_what_it_writes(client, catalog):
    """Use its newest runs; depth 0 is the job with its datasets."""
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.run_io), [shop.io_row(1, key("far", "b"), "write")])
    _chain(catalog, "a", "b", "c")

    near = graph_of(client, JOB, depth=0)
    far = graph_of(client, JOB)

    assert near.keys() >= {JOB, RAW, CORE, "dataset:far:b"}
    assert MART not in near
    assert far.keys() >= {*near, MART, "dataset:far:c"}
    assert far[JOB]["data"]["latestRun"]["state"] == "FAILED"


@pytest.mark.postgres_always
def test_a_job_without_inputs_is_upstream_of_its_outputs(client, catalog):
    """Find the job of a source by its last write."""
    activity = tables.dataset_activity
    with write_transaction(catalog) as connection:
        fields = {"last_job_namespace": "jobs", "last_job_name": "load"}
        of_raw = activity.c.dataset_key == shop.dataset_key(shop.RAW)
        connection.execute(update(activity).where(of_raw).values(fields))

    graph = graph_of(client, CORE)

    assert graph["job:jobs:load"]["outEdges"] == [{"origin": "job:jobs:load", "destination": RAW}]
    assert graph["job:jobs:load"]["inEdges"] == []


def test_an_edge_without_a_known_job_connects_two_datasets(client, catalog):
    """Invent no job for it."""
    _chain(catalog, "a", "b", job="")

    graph = graph_of(client, "dataset:far:b")

    edge = {"origin": "dataset:far:a", "destination": "dataset:far:b"}
    assert graph.keys() == {"dataset:far:a", "dataset:far:b"}
    assert (graph["dataset:far:b"]["inEdges"], graph["dataset:far:a"]["outEdges"]) == (
        *([edge], [edge]),
    )
