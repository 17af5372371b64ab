"""Cached graph, compared with its catalog."""

import pytest
from sqlalchemy import Engine, delete, insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from lineage.graph.cache import reading
from lineage.graph.cache.reading import read_snapshot
from lineage.graph.cache.snapshot import EMPTY_GRAPH, Snapshot
from lineage.graph.walks import NOBODY, Walk

pytestmark = pytest.mark.postgres_nightly

NAMES = {-5: ("s3://a", "raw"), 2: ("s3://a", "core"), 9: ("s3://b", "mart")}


@pytest.fixture
def filled(catalog: Engine) -> Engine:
    """Store -5 → 2 by two jobs, 2 → 9 by one, and 9 → 40 without a row for 40."""
    with write_transaction(catalog) as connection:
        for key, (namespace, name) in NAMES.items():
            row = {"dataset_key": key, "canonical_key": key, "namespace": namespace, "name": name}
            seen = {"first_seen_at": 1, "last_seen_at": 1}
            connection.execute(insert(tables.dataset), {**row, **seen})
    add(catalog, (-5, 2, 7), (-5, 2, -8), (2, 9, 7), (9, 40, 7))
    return catalog


def add(catalog: Engine, *edges: tuple[int, int, int]) -> None:
    """Insert edges: upstream, downstream, job."""
    seen = {"job_namespace": "n", "first_seen_at": 1, "last_seen_at": 1, "runs": 1}
    rows = [
        {"upstream_key": up, "downstream_key": down, "job_key": job, "job_name": f"job {job}"}
        for up, down, job in edges
    ]
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.edge), [{**row, **seen} for row in rows])


def read(catalog: Engine, before: Snapshot = EMPTY_GRAPH) -> Snapshot:
    """Read as the service does."""
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        return read_snapshot(reader, before)


def found(walk: Walk) -> dict[int, int | None]:
    """Return the origins of each, by key."""
    finders = [None if one == NOBODY else walk.keys[one] for one in walk.finders]
    return dict(zip(walk.keys, finders, strict=True))


def edges(walk: Walk) -> list[tuple[int, int, str]]:
    """Return the names by keys."""
    return [(walk.keys[here], walk.keys[other], job) for here, other, job in walk.edges]


def test_edges_are_those_of_the_catalog(filled):
    """Walk both ways, each with its own jobs; an unknown dataset has none."""
    snapshot = read(filled)

    down = snapshot.walked("downstream", [2, -5, 1_000], 1, 9)
    assert sorted(edges(down)) == [(-5, 2, "job -8"), (-5, 2, "job 7"), (2, 9, "job 7")]
    assert found(down) == {2: None, -5: None, 1_000: None, 9: 2}
    assert edges(snapshot.walked("upstream", [40], 1, 9)) == [(40, 9, "job 7")]
    assert found(snapshot.walked("upstream", [], 1, 9)) == {}


def test_a_cut_walk_reports_the_reason(filled):
    """Cut by depth and by number, but not exactly at the end of both."""
    snapshot = read(filled)

    whole = snapshot.walked("downstream", [-5], 3, 3)
    assert (whole.keys, whole.depths(), whole.cut) == ([-5, 2, 9, 40], [0, 1, 2, 3], None)
    assert snapshot.walked("downstream", [-5], 2, 9).cut == "there are more beyond depth 2"
    few = snapshot.walked("downstream", [-5], 9, 2)
    assert (few.keys, few.cut) == ([-5, 2, 9], "more than 2 datasets")


def test_more_starts_than_the_limit_are_the_whole_walk(filled):
    """Return them alone: a job may write thousands."""
    cut = read(filled).walked("downstream", [-5, 2, 9], 9, 1)

    assert (cut.keys, cut.cut) == ([-5, 2, 9], "more than 1 datasets")


def test_a_dataset_without_a_row_is_nameless_and_hidden(filled):
    """Hide it: its namespace is unknown, so it may be anybody's."""
    snapshot = read(filled)

    assert snapshot.named([77, 2, 40]) == [None, NAMES[2], None]
    assert snapshot.walked("downstream", [9], 9, 9, lambda _: True).hidden == {0: {40}}


def test_hidden_datasets_are_counted_and_end_the_walk(filled):
    """Hide by the namespace of the end; also at the last hop."""
    snapshot = read(filled)
    for depth in (1, 2, 9):
        walk = snapshot.walked("downstream", [-5], depth, 9, lambda space: space == "s3://a")
        assert (found(walk), walk.hidden, walk.cut) == ({-5: None, 2: -5}, {1: {9}}, None)


def test_later_rows_are_added(filled):
    """Add edges, jobs and names, and the row of a name known from an edge."""
    before = read(filled)
    late = {"canonical_key": 40, "namespace": "s3://c", "name": "late"}
    with write_transaction(filled) as connection:
        seen = {"first_seen_at": 1, "last_seen_at": 1}
        connection.execute(insert(tables.dataset), {"dataset_key": 40, **late, **seen})
    add(filled, (40, -5, 12), (3, 40, 7))

    after = read(filled, before)
    whole = read(filled)

    assert after.named([40, 3, *NAMES]) == [("s3://c", "late"), None, *NAMES.values()]
    walks = [one.walked("upstream", [2], 9, 9) for one in (after, whole)]
    assert found(walks[0]) == found(walks[1]) == {2: None, -5: 2, 40: -5, 3: 40, 9: 40}
    known = [(-5, 40, "job 12"), (2, -5, "job -8"), (2, -5, "job 7"), (9, 2, "job 7")]
    known += [(40, 3, "job 7"), (40, 9, "job 7")]
    assert sorted(edges(walks[0])) == sorted(edges(walks[1])) == known


@pytest.mark.parametrize("at_once", [1, 2])
def test_the_graph_is_read_in_batches(filled, at_once, monkeypatch):
    """Read all rows, none twice, in any number of batches."""
    whole = read(filled)
    monkeypatch.setattr(reading, "_AT_ONCE", at_once)
    lowest, highest = -(2**63), 2**63 - 1
    add(filled, (lowest, highest, 7), (highest, lowest, 7))

    walk = read(filled).walked("downstream", [-5, lowest], 9, 9)

    assert found(walk) == {-5: None, lowest: None, highest: lowest, 2: -5, 9: 2, 40: 9}
    assert len(walk.edges) == len(whole.walked("downstream", [-5], 9, 9).edges) + 2


def test_an_empty_catalog_has_no_edges(catalog):
    """Start a service before the first event."""
    snapshot = read(catalog)

    assert found(snapshot.walked("downstream", [1], 9, 9)) == {1: None}
    assert snapshot.named([1]) == [None]


@pytest.mark.postgres_always
def test_an_unchanged_graph_is_not_read_again(filled):
    """Ignore runs that come and go."""
    before = read(filled)
    with write_transaction(filled) as connection:
        connection.execute(update(tables.edge).values(last_seen_at=9, runs=9))

    assert read(filled, before) is before


@pytest.mark.postgres_always
def test_a_changed_graph_is_read_again(filled):
    """Read again after a new edge, a lost one, and two that exchanged their ends."""
    before = read(filled)
    add(filled, (9, 2, 3))
    more = read(filled, before)
    assert (9, 2, "job 3") in edges(more.walked("downstream", [9], 1, 9))

    with write_transaction(filled) as connection:
        connection.execute(delete(tables.edge).where(tables.edge.c.job_key == 3))
        connection.execute(delete(tables.edge).where(tables.edge.c.downstream_key == 40))
    less = read(filled, more)
    assert edges(less.walked("downstream", [9], 1, 9)) == []

    add(filled, (-5, 40, 1), (2, 50, 1))
    crossed = read(filled, less)
    with write_transaction(filled) as connection:
        connection.execute(delete(tables.edge).where(tables.edge.c.job_key == 1))
    add(filled, (-5, 50, 1), (2, 40, 1))
    again = read(filled, crossed)
    assert [end for _, end, _ in edges(again.walked("downstream", [2], 1, 9))] == [9, 40]


@pytest.mark.postgres_always
def test_unchanged_slices_are_kept(filled):
    """Read the slices that changed; one of them may lose its last edge."""
    before = read(filled)
    with write_transaction(filled) as connection:
        connection.execute(delete(tables.edge).where(tables.edge.c.upstream_key == -5))

    after = read(filled, before)

    assert found(after.walked("downstream", [-5], 9, 9)) == {-5: None}
    assert found(after.walked("downstream", [2], 9, 9)) == {2: None, 9: 2, 40: 9}
