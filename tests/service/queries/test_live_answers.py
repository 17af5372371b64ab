"""Answers from the graph in memory, compared with those of the catalog."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from litestar.testing import TestClient
from sqlalchemy import Engine, delete, insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import POLICY_FINGERPRINT
from lineage.catalog.reader import open_reader
from lineage.graph.cache.graph_cache import LineageCache
from lineage.graph.cache.reading import read_snapshot
from lineage.process.clock import to_micros
from service.api.app import create_app
from service.queries import walk
from service.queries.catalog_session import CatalogSession, open_session
from service.queries.impact import find_impact
from service.queries.lineage import find_lineage
from service.queries.marquez_api.lineage import marquez_lineage
from service.queries.node_graph import graph_edges, graph_nodes, neighbourhood
from service.queries.visibility import EVERYTHING, Visibility
from service.runtime.settings import Settings
from tests.lineage.policies import policy_row
from tests.service import shop

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
SPACES = ("s3://a", "s3://b", "s3://secret")
EDGES = st.lists(
    st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 3)), max_size=40, unique=True
)
SIGHTS = st.sampled_from([EVERYTHING, Visibility(["s3://?"]), Visibility(["s3://a"])])


RETIRED = 4


def fill(catalog: Engine, edges: list[tuple[int, int, int]]) -> None:
    """Add datasets 1 to 11 of three namespaces, and one that has edges only.

    The policy was resolved for the first five, without the one that is retired.
    """
    seen = {"first_seen_at": 1, "last_seen_at": 1}
    datasets = [
        {"dataset_key": key, "canonical_key": key, "namespace": SPACES[key % 3], "name": f"t{key}"}
        for key in range(1, 12)
    ]
    rows = [
        {"upstream_key": up, "downstream_key": down, "job_key": job, "job_name": f"j{job}"}
        for up, down, job in edges
    ]
    policies = [
        policy_row(1, "optional", None),
        policy_row(2, "important", "a"),
        policy_row(3, "critical", "b"),
        policy_row(5, "critical", "a"),
    ]
    with write_transaction(catalog) as connection:
        for table in (tables.edge, tables.dataset, tables.dataset_policy, tables.meta):
            connection.execute(delete(table))
        connection.execute(insert(tables.dataset), [{**row, **seen} for row in datasets])
        retired = update(tables.dataset).where(tables.dataset.c.dataset_key == RETIRED)
        connection.execute(retired.values(retired_at=1))
        connection.execute(insert(tables.dataset_policy), policies)
        connection.execute(insert(tables.meta), {"name": POLICY_FINGERPRINT, "value": "p"})
        if rows:
            fields = {"job_namespace": "n", "runs": 1, **seen}
            connection.execute(insert(tables.edge), [{**row, **fields} for row in rows])


def judge(catalog: Engine, number: int, state: str) -> None:
    """Store a state of dataset 2, by an evaluation at `NOW`, or so many µs later."""
    row = {"as_of": to_micros(NOW) + number, "last_seq": 0, "policy_hash": "p"}
    found = {"dataset_key": 2, "sli": "M2", "state": state, "since": 1, "is_worst": True}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.evaluation), {**row, "datasets": 1, "seconds": 1.0})
        connection.execute(delete(tables.dataset_state))
        connection.execute(insert(tables.dataset_state), found)


def below(question: CatalogSession) -> str:
    """Return the state of the dataset downstream of dataset 1."""
    return find_lineage(question, (1, SPACES[1], "t1"), depth=1).downstream[0].state


def settings_of(catalog: Engine) -> Settings:
    """Return the settings of a service over the catalog."""
    return Settings(catalog_url=catalog.url.render_as_string(hide_password=False))


@contextmanager
def asked(
    catalog: Engine, visibility: Visibility
) -> Iterator[tuple[CatalogSession, CatalogSession]]:
    """Return the session without the graph in memory, and with it."""
    url = catalog.url.render_as_string(hide_password=False)
    config = settings_of(catalog)
    with open_reader(url) as reader:
        live = read_snapshot(reader)
    at = {"clock": lambda: NOW, "visibility": visibility}
    with open_session(config, **at) as one, open_session(config, **at, live=live) as other:
        yield one, other


def answers(question: CatalogSession, depth: int) -> list[object]:
    """Return all answers that use the graph."""
    named = (1, SPACES[1], "t1")
    around = neighbourhood(question, named, depth)
    return [
        *(find_lineage(question, named, depth=depth, direction=way) for way in walk.DIRECTIONS),
        find_impact(question, named, depth=depth),
        graph_nodes(question.reader, named, around, question.evaluated),
        graph_edges(named, around),
        marquez_lineage(question, named, depth),
    ]


@pytest.mark.parametrize("most", [5_000, 4])
@given(edges=EDGES, visibility=SIGHTS, depth=st.integers(1, 6))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_memory_and_catalog_give_the_same_answers(embedded, most, edges, visibility, depth):
    """Cut and hide the same parts."""
    fill(embedded, edges)
    with pytest.MonkeyPatch.context() as patch, asked(embedded, visibility) as (catalog, live):
        patch.setattr(walk, "MOST_NODES", most)
        assert answers(live, depth) == answers(catalog, depth)


def test_postgresql_orders_answers_as_sqlite_does(catalog):
    """Draw the same tree from both databases."""
    fill(catalog, [(1, 2, 1), (1, 3, 1), (2, 4, 2), (3, 4, 1), (3, 4, 3), (4, 12, 1)])
    with asked(catalog, EVERYTHING) as (one, other):
        assert answers(other, 5) == answers(one, 5)


def test_states_are_those_of_the_answer_s_evaluation(embedded):
    """Read states from the catalog that are newer than the graph in memory."""
    fill(embedded, [(1, 2, 1)])
    judge(embedded, 1, "good")
    with asked(embedded, EVERYTHING) as (_, live):
        assert below(live) == "good"
        held = live.live
    with write_transaction(embedded) as connection:
        connection.execute(update(tables.dataset_state).values(state="learning"))
    with open_session(settings_of(embedded), clock=lambda: NOW, live=held) as same:
        assert below(same) == "good", "the catalog was asked for what is in memory"
    judge(embedded, 2, "bad")
    with open_session(settings_of(embedded), clock=lambda: NOW, live=held) as later:
        assert below(later) == "bad"


def test_tiers_and_owners_are_those_of_the_last_policy(embedded):
    """Return those in memory, and read others from the catalog."""

    def affected_rows(question: CatalogSession) -> list[tuple[str, str, str | None]]:
        affected = find_impact(question, (1, SPACES[1], "t1")).affected
        return [(each.dataset, each.tier, each.owner) for each in affected]

    fill(embedded, [(1, 2, 1), (2, 3, 1), (2, RETIRED, 1), (3, 6, 1)])
    with asked(embedded, EVERYTHING) as (_, live):
        held = live.live
    with write_transaction(embedded) as connection:
        connection.execute(update(tables.dataset_policy).values(tier="optional", owner="x"))
        connection.execute(insert(tables.dataset_policy), policy_row(6, "important", "y"))
    with open_session(settings_of(embedded), clock=lambda: NOW, live=held) as later:
        assert affected_rows(later) == [
            ("t3", "critical", "b"),
            ("t2", "important", "a"),
            ("t6", "important", "y"),
        ]
    with open_session(settings_of(embedded), clock=lambda: NOW) as asked_of_catalog:
        assert affected_rows(asked_of_catalog)[0] == ("t6", "important", "y")


def test_a_state_in_memory_is_no_newer_than_its_evaluation(embedded):
    """Show a good state of a stale evaluation as unknown."""
    fill(embedded, [(1, 2, 1)])
    judge(embedded, 1, "good")
    with asked(embedded, EVERYTHING) as (_, live):
        held = live.live
    late = NOW + timedelta(days=1)
    with open_session(settings_of(embedded), clock=lambda: late, live=held) as later:
        assert below(later) == "unknown"


def test_the_api_answers_from_memory(embedded):
    """Return a change a second later, and at once by the catalog alone."""
    shop.fill(embedded)
    url = embedded.url.render_as_string(hide_password=False)
    live = LineageCache(url, lambda: 0.0)
    wanted = {"dataset": shop.CORE, "direction": "downstream"}
    clients = [
        TestClient(create_app(Settings(catalog_url=url), live=one), base_url="http://127.0.0.1")
        for one in (live, None)
    ]
    live.current()
    live.wait()
    with write_transaction(embedded) as connection:
        connection.execute(delete(tables.edge))

    answer = [client.get("/api/v1/lineage", params=wanted).json() for client in clients]

    assert [len(one["downstream"]) for one in answer] == [1, 0]
