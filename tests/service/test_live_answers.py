"""Answers from the graph in memory are those of the catalog, whatever the graph and the sight."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from litestar.testing import TestClient
from sqlalchemy import Engine, delete, insert

from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.catalog.reader import open_reader
from lineage.live.held import LiveLineage
from lineage.live.reading import read_snapshot
from service.access.sight import EVERYTHING, Sight
from service.answers import walk
from service.answers.impact import impact
from service.answers.lineage import lineage
from service.answers.marquez_graph import marquez_lineage
from service.answers.node_graph import graph_edges, graph_nodes, neighbourhood
from service.app import create_app
from service.asking import Question, question
from service.settings import Settings
from tests.service import shop

SPACES = ("s3://a", "s3://b", "s3://secret")
EDGES = st.lists(
    st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 3)), max_size=40, unique=True
)
SIGHTS = st.sampled_from([EVERYTHING, Sight(["s3://?"]), Sight(["s3://a"])])


def fill(catalog: Engine, edges: list[tuple[int, int, int]]) -> None:
    """Datasets 1 to 11 of three namespaces, and one that has edges alone."""
    seen = {"first_seen_at": 1, "last_seen_at": 1}
    datasets = [
        {"dataset_key": key, "canonical_key": key, "namespace": SPACES[key % 3], "name": f"t{key}"}
        for key in range(1, 12)
    ]
    rows = [
        {"upstream_key": up, "downstream_key": down, "job_key": job, "job_name": f"j{job}"}
        for up, down, job in edges
    ]
    with writing(catalog) as connection:
        connection.execute(delete(tables.edge))
        connection.execute(delete(tables.dataset))
        connection.execute(insert(tables.dataset), [{**row, **seen} for row in datasets])
        if rows:
            told = {"job_namespace": "n", "runs": 1, **seen}
            connection.execute(insert(tables.edge), [{**row, **told} for row in rows])


@contextmanager
def asked(catalog: Engine, sight: Sight) -> Iterator[tuple[Question, Question]]:
    """The question without the graph in memory, and with it."""
    url = catalog.url.render_as_string(hide_password=False)
    config = Settings(catalog_url=url)
    with open_reader(url) as reader:
        live = read_snapshot(reader)
    with question(config, sight=sight) as one, question(config, sight=sight, live=live) as other:
        yield one, other


def answers(question: Question, depth: int) -> list[object]:
    """All that is drawn from the graph."""
    named = (1, SPACES[1], "t1")
    around = neighbourhood(question, named, depth)
    return [
        *(lineage(question, named, depth=depth, direction=way) for way in walk.DIRECTIONS),
        impact(question, named, depth=depth),
        graph_nodes(question.reader, named, around, question.evaluated),
        graph_edges(named, around),
        marquez_lineage(question, named, depth),
    ]


@pytest.mark.parametrize("most", [5_000, 4])
@given(edges=EDGES, sight=SIGHTS, depth=st.integers(1, 6))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_answers_are_the_same(embedded, most, edges, sight, depth):
    """Also cut: the same part of it is shown, and the same is hidden."""
    fill(embedded, edges)
    with pytest.MonkeyPatch.context() as patch, asked(embedded, sight) as (catalog, live):
        patch.setattr(walk, "MOST_NODES", most)
        assert answers(live, depth) == answers(catalog, depth)


def test_postgresql_orders_what_it_says_as_sqlite_does(catalog):
    """A tree has one shape, wherever it is kept."""
    fill(catalog, [(1, 2, 1), (1, 3, 1), (2, 4, 2), (3, 4, 1), (3, 4, 3), (4, 12, 1)])
    with asked(catalog, EVERYTHING) as (one, other):
        assert answers(other, 5) == answers(one, 5)


def test_the_api_answers_from_memory(embedded):
    """Of what changed it hears a second later; the catalog alone at once."""
    shop.fill(embedded)
    url = embedded.url.render_as_string(hide_password=False)
    live = LiveLineage(url, lambda: 0.0)
    wanted = {"dataset": shop.CORE, "direction": "downstream"}
    clients = [
        TestClient(create_app(Settings(catalog_url=url), live=one), base_url="http://127.0.0.1")
        for one in (live, None)
    ]
    live.current()
    live.wait()
    with writing(embedded) as connection:
        connection.execute(delete(tables.edge))

    told = [client.get("/api/v1/lineage", params=wanted).json() for client in clients]

    assert [len(one["downstream"]) for one in told] == [1, 0]
