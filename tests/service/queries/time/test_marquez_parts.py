"""Graph in Marquez's shape, without a path through a job that did not make it."""

import pytest
from litestar.testing import TestClient

from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service.marquez_graphs import graph_of
from tests.slis.stream.spools import run_event

pytestmark = pytest.mark.postgres_nightly

_APP = ("a1", "ingest")
_ORDERS, _CUSTOMERS = "job:j:ingest.append_orders", "job:j:ingest.append_customers"


@pytest.fixture
def client(catalog):
    """Serve the API over that catalog."""
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))
    return TestClient(create_app(settings), base_url="http://127.0.0.1")


def _ingest(lander, at):
    """Copy two sources, each to a table of its own, in one application."""
    lander.land(
        run_event("START", at(8), run="a1", job="ingest", job_type="APPLICATION"),
        *(
            run_event(
                *("COMPLETE", at(8, 1)),
                run=f"r-{name}",
                job=f"ingest.append_{name}",
                root=_APP,
                inputs=[f"landing/{name}"],
                outputs=[f"bronze/{name}"],
            )
            for name in ("orders", "customers")
        ),
        run_event("COMPLETE", at(8, 2), run="a1", job="ingest", job_type="APPLICATION"),
    )


def _walk(graph, start):
    found, queue = set(), [start]
    while queue:
        here = queue.pop()
        if here not in found:
            found.add(here)
            queue += [edge["destination"] for edge in graph[here]["outEdges"]]
    return found - {start}


def test_an_application_is_a_job_for_each_output_where_their_inputs_differ(lander, client, at):
    """Name the jobs as their events do."""
    _ingest(lander, at)

    graph = graph_of(client, "dataset:n:landing/customers")

    bronze = "dataset:n:bronze/customers"
    assert _walk(graph, "dataset:n:landing/customers") == {_CUSTOMERS, bronze}
    assert graph[_CUSTOMERS]["data"]["latestRun"]["state"] == "COMPLETED"


def test_a_request_for_an_application_shows_its_jobs(lander, client, at):
    """Draw no edge to the application itself."""
    _ingest(lander, at)

    graph = graph_of(client, "job:j:ingest")

    assert {"job:j:ingest", _ORDERS, _CUSTOMERS} <= graph.keys()
    assert graph["job:j:ingest"]["outEdges"] == []
    assert _walk(graph, "dataset:n:landing/orders") == {_ORDERS, "dataset:n:bronze/orders"}


def test_every_job_that_an_event_names_is_found(lander, client, at):
    _ingest(lander, at)
    given = {"integration": "DBT", "job_type": "MODEL", "root": ("d1", "dbt-run-shop")}
    event = run_event("COMPLETE", at(9), run="m1", job="db.a", inputs=["x"], outputs=["a"], **given)
    lander.land(event)

    for job in ("ingest", "ingest.append_orders", "dbt-run-shop", "db.a"):
        assert f"job:j:{job}" in graph_of(client, f"job:j:{job}"), job
    model = graph_of(client, "job:j:db.a")["job:j:db.a"]["data"]
    assert [one["name"] for one in model["outputs"]] == ["a"]
    assert model["latestRun"]["id"] == "m1"
