"""Datasets, their other names, and their facets."""

import pytest
from sqlalchemy import select

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.slis.stream.spools import CANONICAL, WRITES, rows, run_event, symlink

_SYMLINK = symlink("db.t")


def test_a_late_symlink_moves_the_facts_of_the_alias(lander, catalog, at):
    """Move the writes and reads of `db.t`, of Trino, once Spark names it as `/wh/t`."""
    lander.land(
        run_event("COMPLETE", at(8), run="r1", inputs=["in"], outputs=["db.t"]),
        run_event("COMPLETE", at(9), run="r2", job="reader", inputs=["db.t"], outputs=["out"]),
    )
    lander.land(run_event("COMPLETE", at(10), run="r3", job="spark", outputs=[("/wh/t", _SYMLINK)]))
    lander.land(run_event("COMPLETE", at(11), run="r4", inputs=["in"], outputs=["db.t"]))

    assert rows(catalog, CANONICAL) == [
        ("/wh/t", "/wh/t"),
        ("db.t", "/wh/t"),
        ("in", "in"),
        ("out", "out"),
    ]
    assert rows(catalog, WRITES) == [
        ("/wh/t", "r1"),
        ("/wh/t", "r3"),
        ("/wh/t", "r4"),
        ("out", "r2"),
    ]
    assert rows(
        catalog,
        """
        SELECT u.name, d.name, e.job_name, e.runs FROM edge e JOIN dataset u
        ON u.dataset_key = e.upstream_key
        JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1, 2
        """,
    ) == [("/wh/t", "out", "reader", 1), ("in", "/wh/t", "app", 2)]
    activity = (
        "SELECT a.writes FROM dataset_activity a JOIN dataset d ON d.dataset_key = a.dataset_key "
        "WHERE d.name = '/wh/t'"
    )
    assert rows(catalog, activity) == [(3,)]


def test_a_read_that_was_counted_under_its_alias_is_not_counted_again(lander, catalog, at):
    """Count once: the counters never fall, so a second count would stay."""
    lander.land(run_event("COMPLETE", at(8), inputs=["db.t"]))
    with catalog.begin() as connection:
        connection.exec_driver_sql("UPDATE dataset_read SET counted_at = 5, outcome = 'good'")
    lander.land(run_event("COMPLETE", at(9), run="r2", job="x", inputs=[("/wh/t", _SYMLINK)]))

    found = rows(catalog, "SELECT root_run_id, counted_at, outcome FROM dataset_read ORDER BY 1")
    assert found == [("r1", 5, "good"), ("r2", None, None)]


@pytest.mark.postgres_nightly
def test_a_rename_makes_the_old_name_an_alias_of_the_new(lander, catalog, at):
    """Move the writes of the old name to the new one."""
    renamed = {
        "lifecycleStateChange": {
            "lifecycleStateChange": "RENAME",
            "previousIdentifier": {"namespace": "n", "name": "a_old"},
        }
    }
    lander.land(run_event("COMPLETE", at(8), outputs=["a_old"]))
    lander.land(run_event("COMPLETE", at(9), run="r2", job="x", outputs=[("b_new", renamed)]))

    assert rows(catalog, CANONICAL) == [("a_old", "b_new"), ("b_new", "b_new")]
    assert rows(catalog, WRITES) == [("b_new", "r1")]


def _rename(at, kind, name, former=None):
    change = {"lifecycleStateChange": kind}
    if former:
        change["previousIdentifier"] = {"namespace": "n", "name": former}
    given = {"run": f"{kind} of {name} {at}", "job": "swap"}
    return run_event("COMPLETE", at, outputs=[(name, {"lifecycleStateChange": change})], **given)


def _swap(at, hour):
    """Build a table beside the current one, and replace that one by it."""
    return [
        run_event("COMPLETE", at(hour), run=f"load{hour}", inputs=["src"], outputs=["orders__tmp"]),
        _rename(at(hour, 1), "RENAME", "orders__backup", former="orders"),
        _rename(at(hour, 2), "RENAME", "orders", former="orders__tmp"),
        _rename(at(hour, 3), "DROP", "orders__backup"),
    ]


@pytest.mark.parametrize("size", [1, 3, 10])
def test_a_table_that_is_swapped_in_keeps_its_name_and_its_past(lander, catalog, at, size):
    """Keep `orders` in any split into batches, and drop the backup."""
    first = run_event("COMPLETE", at(7), run="load7", inputs=["src"], outputs=["orders"])
    events = [first, *_swap(at, 8), *_swap(at, 9)]
    for begin in range(0, len(events), size):
        lander.land(*events[begin : begin + size])

    assert rows(catalog, CANONICAL) == [
        ("orders", "orders"),
        ("orders__backup", "orders__backup"),
        ("orders__tmp", "orders"),
        ("src", "src"),
    ]
    assert rows(catalog, WRITES) == [("orders", f"load{hour}") for hour in (7, 8, 9)]
    retired = "SELECT name FROM dataset WHERE retired_at IS NOT NULL"
    assert rows(catalog, retired) == [("orders__backup",)]


def test_a_table_that_is_renamed_to_and_fro_has_its_last_name(lander, catalog, at):
    lander.land(run_event("COMPLETE", at(7), outputs=["a"]), _rename(at(8), "RENAME", "b", "a"))
    assert rows(catalog, CANONICAL) == [("a", "b"), ("b", "b")]

    lander.land(_rename(at(9), "RENAME", "a", "b"))

    assert rows(catalog, CANONICAL)[0] == ("a", "a")
    assert rows(catalog, WRITES) == [("a", "r1")]


def test_a_stranger_s_rename_brings_no_name_back(lander, catalog, at):
    """Ignore older and newer times of jobs of another namespace."""
    lander.land(run_event("COMPLETE", at(7), outputs=["a"]), _rename(at(8), "RENAME", "b", "a"))
    for hour, new, old in ((6, "b", "a"), (10, "a", "b"), (11, "a", "c")):
        evil = _rename(at(hour), "RENAME", new, old)
        evil["job"]["namespace"] = "evil"
        lander.land(evil)

    assert rows(catalog, CANONICAL)[:2] == [("a", "b"), ("b", "b")]


def test_partitions_are_one_dataset_and_leave_one_alias(lander, catalog, at):
    """Fold a year of daily paths into one dataset; keep the newest partition with its write."""
    days = ("2026-11-19", "2026-11-20")
    lander.land(
        *(run_event("COMPLETE", at(8), run=day, outputs=[f"/wh/t/dt={day}"]) for day in days)
    )

    assert rows(catalog, "SELECT name FROM dataset") == [("/wh/t",)]
    assert rows(catalog, "SELECT rule, name FROM dataset_alias") == [("partition", "/wh/t")]
    partitions = "SELECT root_run_id, partition, nominal_start_at FROM dataset_write ORDER BY 1"
    assert rows(catalog, partitions) == [
        ("2026-11-19", "dt=2026-11-19", 1_795_046_400_000_000),
        ("2026-11-20", "dt=2026-11-20", 1_795_132_800_000_000),
    ]


def test_facets_give_schema_version_owner_tag_and_column_edges(lander, catalog, at):
    """Store each of them once, however often the job repeats it."""
    facets = {
        "schema": {"fields": [{"name": "id", "type": "long"}]},
        "version": {"datasetVersion": "v7"},
        "ownership": {"owners": [{"name": "team:core", "type": "OWNER"}]},
        "tags": {
            "tags": [{"key": "pii", "value": "true"}, {"key": "x", "value": "y", "field": "id"}]
        },
        "columnLineage": {
            "fields": {
                "id": {
                    "inputFields": [
                        {
                            "namespace": "n",
                            "name": "in",
                            "field": "key",
                            "transformations": [{"type": "DIRECT", "subtype": "IDENTITY"}],
                        }
                    ]
                },
                "at": {
                    "inputFields": [{"namespace": "n", "name": "in", "field": "at"}],
                    "transformationType": "MASKED",
                },
            }
        },
    }
    lander.land(
        *(
            run_event(kind, at(8), inputs=["in"], outputs=[("t", facets)])
            for kind in ("START", "COMPLETE")
        )
    )

    assert rows(catalog, "SELECT fields FROM schema_version") == [
        ('[{"name":"id","type":"long"}]',)
    ]
    assert rows(catalog, "SELECT version FROM dataset_version") == [("v7",)]
    assert rows(catalog, "SELECT subject, owner, type FROM ownership") == [
        ("dataset", "team:core", "OWNER")
    ]
    assert rows(catalog, "SELECT tag, value FROM tag") == [("pii", "true")]
    edges = "SELECT upstream_field, downstream_field, transformations FROM column_edge ORDER BY 1"
    assert rows(catalog, edges) == [
        ("at", "at", '[{"type":"MASKED"}]'),
        ("key", "id", '[{"type":"DIRECT","subtype":"IDENTITY"}]'),
    ]


@pytest.mark.postgres_nightly
@pytest.mark.parametrize(
    ("fields", "stored"),
    [
        ([{"name": "id", "type": "int"}, {"type": "struct"}], [('[{"name":"id","type":"int"}]',)]),
        ([None, {"name": "id"}, {"name": None, "type": "x"}], [('[{"name":"id"}]',)]),
        ([None], []),
        ([{"name": None, "type": "x"}, {}], []),
    ],
)
def test_a_column_without_a_name_is_no_column(lander, catalog, at, fields, stored):
    """Store the other columns."""
    lander.land(run_event("COMPLETE", at(8), outputs=[("t", {"schema": {"fields": fields}})]))

    assert rows(catalog, "SELECT fields FROM schema_version") == stored


def test_job_and_dataset_events_give_facts_without_runs(lander, catalog, at):
    """Store an edge of a JobEvent that no run names, and dataset and facets of a DatasetEvent."""
    time = at(8).isoformat()
    lander.land(
        {
            "eventTime": time,
            "job": {"namespace": "j", "name": "declared"},
            "inputs": [{"namespace": "n", "name": "in"}],
            "outputs": [{"namespace": "n", "name": "out"}],
        },
        {
            "eventTime": time,
            "dataset": {
                "namespace": "n",
                "name": "alone",
                "facets": {"version": {"datasetVersion": "1"}},
            },
        },
    )

    assert rows(catalog, "SELECT job_name, runs FROM edge") == [("declared", 0)]
    assert rows(catalog, "SELECT name FROM dataset ORDER BY 1") == [("alone",), ("in",), ("out",)]
    assert rows(catalog, "SELECT * FROM run") == []
    assert rows(catalog, "SELECT version FROM dataset_version") == [("1",)]


def test_texts_that_postgresql_cannot_hold_are_kept_readable(lander, catalog, at):
    """Replace a NUL in a name, an owner or an error by a visible mark, and land the event."""
    owner = {"ownership": {"owners": [{"name": "a\x00b", "type": "T"}]}}
    error = {"errorMessage": {"message": "no\x00way"}}
    lander.land(run_event("FAIL", at(8), outputs=[("t\x00u", owner)], facets=error))

    assert rows(catalog, "SELECT name FROM dataset") == [("t\ufffdu",)]
    assert rows(catalog, "SELECT owner FROM ownership") == [("a\ufffdb",)]
    assert rows(catalog, "SELECT error_message FROM run") == [("no\ufffdway",)]


@pytest.mark.postgres_nightly
@pytest.mark.parametrize("far", ["2099-12-31", "2062-11-25", "2026-12-31"])
def test_a_partition_for_the_far_future_leaves_later_writes_fresh(lander, catalog, at, far):
    """Count no later write as a backfill: the dataset would stay stale."""
    days = ["2026-11-18", "2026-11-19", far, "2026-11-20", "2026-11-21"]
    events = [_daily_event(at, number, day) for number, day in enumerate(days)]
    lander.land(events[0])
    _learn_a_day(catalog)
    lander.land(*events[1:])

    newest = "SELECT last_write_root_run_id FROM dataset_activity"
    assert rows(catalog, newest) == [("r4",)]


def _learn_a_day(catalog):
    learned = {"cadence_class": "periodic", "gaps": 10, "explanation": "", "learned_at": 0}
    with write_transaction(catalog) as connection:
        key = connection.scalar(select(tables.dataset.c.dataset_key))
        row = {"dataset_key": key, "cadence_seconds": 86_400.0, **learned}
        connection.execute(tables.dataset_limit.insert(), row)


def _daily_event(at, number, day):
    written = [f"core/orders/dt={day}"]
    return run_event("COMPLETE", at(24 * (number - 4) + 1), run=f"r{number}", outputs=written)
