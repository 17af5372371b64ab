"""Folds of the policy in the stream, and over facts from before them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from lineage.names.keys import key
from lineage.policy import DEFAULT, PolicyFile, folds_of, parse_policy
from slis.evaluation import policy_names
from slis.evaluation.policy_names import renew_names
from slis.stream.names import spellings
from tests.slis.stream.spools import CANONICAL, WRITES, Lander, rows, run_event, symlink

_FOLDS = parse_policy("folds: [{match: 'n/run_{n}', dataset: n/run}]")
_FOLD_ALIASES = "SELECT name FROM dataset_alias WHERE rule = 'fold' ORDER BY 1"
# All facts of datasets by name, for comparisons in any order.
_FACTS = (
    WRITES,
    """SELECT d.name, r.root_run_id, r.job_name FROM dataset_read r
        JOIN dataset d ON d.dataset_key = r.dataset_key ORDER BY 1, 2""",
    """SELECT u.name, d.name, e.job_key, e.job_name, e.runs FROM edge e
        JOIN dataset u ON u.dataset_key = e.upstream_key
        JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2, 3""",
    """SELECT u.name, d.name, r.job_key, r.root_run_id FROM edge_run r
        JOIN dataset u ON u.dataset_key = r.upstream_key
        JOIN dataset d ON d.dataset_key = r.downstream_key ORDER BY 1, 2, 3, 4""",
    """SELECT d.name, a.writes, a.last_written_at, a.last_read_at, a.first_read_at
        FROM dataset_activity a JOIN dataset d ON d.dataset_key = a.dataset_key ORDER BY 1""",
    """SELECT d.name, s.fields, s.first_seen_at, s.last_seen_at FROM schema_version s
        JOIN dataset d ON d.dataset_key = s.dataset_key ORDER BY 1, 2""",
    """SELECT d.name, job_key FROM dataset_write w
        JOIN dataset d ON d.dataset_key = w.dataset_key ORDER BY 1, 2""",
    """SELECT DISTINCT c.name, c.first_seen_at FROM dataset d
        JOIN dataset c ON c.dataset_key = d.canonical_key ORDER BY 1""",
    """SELECT namespace, name, alias_key, dataset_key FROM dataset_alias
        WHERE rule = 'fold' ORDER BY 2""",
)


@pytest.fixture
def lakes(tmp_path: Path) -> Iterator[list[Engine]]:
    """Create two catalogs, to compare."""
    engines = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        engine = open_catalog(catalog_url(tmp_path / name))
        migrate(engine)
        engines.append(engine)
    yield engines
    for engine in engines:
        engine.dispose()


def _nights(at, numbers):
    schema = {"schema": {"fields": [{"name": "id", "type": "long"}]}}
    for number in numbers:
        yield run_event(
            "COMPLETE",
            at(number),
            run=f"w{number}",
            inputs=["in"],
            outputs=[(f"run_{number}", schema)],
        )
        yield run_event(
            "COMPLETE",
            at(number, 30),
            run=f"r{number}",
            job="reader",
            inputs=[f"run_{number}"],
            outputs=["report"],
        )


@pytest.mark.postgres_nightly
def test_new_names_are_the_folded_dataset_with_the_names_kept(lander, catalog, at):
    """Store one dataset for all names; each name leads to it."""
    lander.policy = _FOLDS

    lander.land(*_nights(at, (1, 2)))

    assert rows(catalog, CANONICAL) == [(name, name) for name in ("in", "report", "run")]
    assert rows(catalog, WRITES) == [
        *(("report", f"r{night}") for night in (1, 2)),
        *(("run", f"w{night}") for night in (1, 2)),
    ]
    assert rows(catalog, _FOLD_ALIASES) == [("run_1",), ("run_2",)]


def test_facts_of_the_old_names_move(lander, catalog, at):
    """Move it with writes, reads and edges; later events go on from there."""
    lander.land(*_nights(at, (1, 2)))

    assert renew_names(catalog, _FOLDS, at(3))
    assert not renew_names(catalog, _FOLDS, at(3))
    lander.policy = _FOLDS
    lander.land(*_nights(at, (3,)))

    assert rows(catalog, CANONICAL) == [
        *(("in", "in"), ("report", "report"), ("run", "run")),
        *(("run_1", "run"), ("run_2", "run")),
    ]
    edges = """SELECT u.name, d.name, e.runs FROM edge e
        JOIN dataset u ON u.dataset_key = e.upstream_key
        JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1"""
    assert rows(catalog, edges) == [("in", "run", 3), ("run", "report", 3)]
    assert rows(catalog, _FOLD_ALIASES) == [("run_1",), ("run_2",), ("run_3",)]


def test_a_late_fold_equals_an_early_one(lakes, at, tmp_path):
    """Store the same rows, whenever the policy gets the fold."""
    early, late = lakes
    first, then = list(_nights(at, (1, 2, 3))), list(_nights(at, (4,)))
    folded = Lander(early, tmp_path / "one", at(12))
    folded.policy = _FOLDS
    folded.land(*first)
    folded.land(*then)
    unfolded = Lander(late, tmp_path / "other", at(12))
    unfolded.land(*first)
    renew_names(late, _FOLDS, at(3))
    unfolded.policy = _FOLDS
    unfolded.land(*then)

    assert [rows(late, facts) for facts in _FACTS] == [rows(early, facts) for facts in _FACTS]
    assert all(rows(late, facts) for facts in _FACTS)


@pytest.mark.postgres_nightly
def test_a_batch_under_the_policy_before_is_moved_by_the_next_evaluation(lander, catalog, at):
    """Move the names of a batch that landed after the names were read."""
    renew_names(catalog, _FOLDS, at(1))
    lander.land(*_nights(at, (1,)))

    assert renew_names(catalog, _FOLDS, at(2))

    assert ("run_1", "run") in rows(catalog, CANONICAL)


def test_many_names_are_moved_a_part_at_a_time(lander, catalog, at, monkeypatch):
    """Move a bounded part per call, so that stream and metrics need not wait for the others."""
    monkeypatch.setattr(policy_names, "_A_TRANSACTION", 2)
    monkeypatch.setattr(policy_names, "_AT_ONCE", 3)
    lander.land(*_nights(at, range(1, 6)))

    moved = []
    while renew_names(catalog, _FOLDS, at(6)):
        moved.append(sum(dataset == "run" for _, dataset in rows(catalog, CANONICAL)) - 1)

    assert moved == [3, 5]
    activity = """SELECT a.writes FROM dataset_activity a
        JOIN dataset d ON d.dataset_key = a.dataset_key WHERE d.name = 'run'"""
    assert rows(catalog, activity) == [(5,)]


def test_a_folded_partition_and_a_folded_symlink_lead_to_the_dataset(lander, catalog, at):
    """Apply the built-in rules first, then the policy."""
    lander.policy = parse_policy(
        "folds:\n- {match: 'n//wh/run_{n}', dataset: n//wh/run}\n"
        "- {match: 'n/db.run_{n}', dataset: n/db.run}"
    )
    names = [(f"/wh/run_{n}/dt=2026-11-2{n}", symlink(f"db.run_{n}")) for n in (1, 2)]
    lander.land(*(run_event("COMPLETE", at(8), run=name[0], outputs=[name]) for name in names))

    assert rows(catalog, CANONICAL) == [("/wh/run", "/wh/run")]
    aliases = "SELECT rule, name FROM dataset_alias ORDER BY 1, 2"
    assert rows(catalog, aliases) == [
        *(("fold", name) for name in ("/wh/run_1", "/wh/run_2", "db.run_1", "db.run_2")),
        ("partition", "/wh/run"),
        ("symlink", "db.run"),
    ]
    assert rows(catalog, "SELECT DISTINCT partition FROM dataset_write ORDER BY 1") == [
        ("dt=2026-11-21",),
        ("dt=2026-11-22",),
    ]


@pytest.mark.postgres_nightly
def test_a_fold_removed_from_the_policy_ends(lander, catalog, at):
    """Give new events of a name to its own dataset; earlier facts stay with the folded one."""
    lander.land(*_nights(at, (1,)))
    renew_names(catalog, _FOLDS, at(2))
    assert renew_names(catalog, DEFAULT, at(3))
    lander.land(run_event("COMPLETE", at(4), run="w4", outputs=["run_1"]))

    assert ("run_1", "run_1") in rows(catalog, CANONICAL)
    assert [row for row in rows(catalog, WRITES) if row[0] != "report"] == [
        ("run", "w1"),
        ("run_1", "w4"),
    ]


def test_a_retired_dataset_stays_retired_after_a_fold(lander, catalog, at):
    """Keep it out of the totals under another name."""
    lander.land(*_nights(at, (1,)))
    with catalog.begin() as connection:
        connection.exec_driver_sql("UPDATE dataset SET retired_at = 1 WHERE name = 'run_1'")

    assert not renew_names(catalog, _FOLDS, at(2))
    assert ("run_1", "run_1") in rows(catalog, CANONICAL)


@pytest.mark.postgres_nightly
def test_without_a_fold_the_names_are_not_looked_at(catalog, at, monkeypatch):
    """Read no names where the policy has no folds."""
    asked = []
    monkeypatch.setattr("slis.evaluation.policy_folds._candidates", asked.append)

    renew_names(catalog, DEFAULT, at(1))
    found = spellings.spell("n", "run_1", folds_of(DEFAULT))

    assert asked == []
    assert (found.dataset_name, found.rules) == ("run_1", ())


@pytest.mark.postgres_nightly
def test_a_changed_policy_applies_from_the_next_batch(lander, catalog, at, tmp_path):
    """Fold known names again by the current file, also in the stream's own cache."""
    path = tmp_path / "lineward.yaml"
    path.write_text("{}")
    file = PolicyFile(path, settle_seconds=0)
    lander.batches._policy = file.current  # noqa: SLF001 - as the pipeline gives it
    event = run_event("COMPLETE", at(1), run="w1", outputs=["run_1"])
    lander.land(event)
    path.write_text("folds: [{match: 'n/run_{n}', dataset: n/first}]\n")
    lander.land(event | {"eventTime": at(2).isoformat()})
    path.write_text("folds: [{match: 'n/run_{n}', dataset: n/second}]\n")
    lander.land(event | {"eventTime": at(3).isoformat()})

    assert rows(catalog, CANONICAL) == [(n, n) for n in ("first", "run_1", "second")]


def test_a_cache_without_the_policy_in_its_key_would_fold_wrongly(monkeypatch):
    """Run the mutant of the test above: with equal folds, the first policy's stay cached."""
    folds = [
        folds_of(parse_policy(f"folds: [{{match: 'n/run_{{n}}', dataset: n/{to}}}]"))
        for to in ("a", "b")
    ]
    kinds = type(folds[0])
    assert [spellings.spell("n", "run_1", one).dataset_name for one in folds] == ["a", "b"]
    spellings.spell.cache_clear()
    monkeypatch.setattr(kinds, "__eq__", lambda *_: True)
    monkeypatch.setattr(kinds, "__hash__", lambda _: 1)

    assert [spellings.spell("n", "run_1", one).dataset_name for one in folds] == ["a", "a"]
    monkeypatch.undo()
    spellings.spell.cache_clear()


def test_a_name_with_an_alias_instead_of_a_fold_moves_completely(lander, catalog, at):
    """Prefer an alias of the policy to its folds."""
    lander.land(*_nights(at, (1, 2)))
    renew_names(catalog, _FOLDS, at(3))
    policy = parse_policy(
        "folds: [{match: 'n/run_{n}', dataset: n/run}]\n"
        "datasets: [{match: n/other}]\naliases: [{name: n/run_2, dataset: n/other}]"
    )
    assert renew_names(catalog, policy, at(4))

    assert dict(rows(catalog, CANONICAL)) == {
        **{name: name for name in ("in", "other", "report", "run")},
        "run_1": "run",
        "run_2": "other",
    }
    links = "SELECT alias_key, dataset_key FROM dataset_alias WHERE rule = 'policy'"
    assert set(rows(catalog, links)) == {
        (key("n", "run_1"), key("n", "run")),
        (key("n", "run_2"), key("n", "other")),
    }
