"""Facts of a slab, each known from the arrival of its event."""

import json

import pytest
from sqlalchemy import insert, update

from lab.replay.arrivals import Arrivals, SlabRange, collect_arrivals, stood
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy import NO_FOLDS
from lineage.process.clock import from_micros
from slis.stream.names.spellings import spell

LANDED = 900_000_000
SLAB, NEXT = SlabRange(0, LANDED), SlabRange(LANDED, 2 * LANDED)
ROOT, RUN = "root-1", "run-1"


def event(kind, received_at, *, run=RUN, root=ROOT, outputs=(), time=None):  # noqa: PLR0913 - by name
    facets = {} if root is None else {"parent": {"root": {"run": {"runId": root}}}}
    reported = {"eventType": kind, "run": {"runId": run, "facets": facets}}
    reported["eventTime"] = from_micros(time or received_at).isoformat()
    return received_at, json.dumps(
        reported | {"outputs": [{"name": each} for each in outputs]}
    ).encode()


@pytest.fixture
def written(catalog):
    """Store one write of dataset 1 by a run that landed at the end of the slab."""
    dataset = {"dataset_key": 1, "namespace": "s3://lake", "name": "orders", "canonical_key": 1}
    seen = {"first_seen_at": 1, "last_seen_at": 2}
    job = {"job_namespace": "shop", "job_name": "load"}
    write = {"root_run_id": ROOT, "bucket": 0, "job_key": 7, "written_at": 500_000_000, **job}
    flags = {"names_input": True, "is_reported": True, "is_streaming": False, "is_history": False}
    run = {"run_key": 5, "run_id": RUN, "root_run_id": ROOT, "is_history": False, **job}
    root = {"root_job_namespace": "shop", "root_job_name": "load"}
    times = {"first_event_at": 400_000_000, "last_event_at": 500_000_000}
    io = {"run_key": 5, "dataset_key": 1, "direction": "write", "has_statistics": False}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset), dataset | seen)
        connection.execute(
            insert(tables.dataset_write),
            {"dataset_key": 1, **write, **flags, "landed_at": LANDED},
        )
        connection.execute(
            insert(tables.run),
            run | root | times | {"started_at": 400_000_000, "landed_at": LANDED},
        )
        connection.execute(
            insert(tables.run_io), io | times | {"is_reported": True, "landed_at": LANDED}
        )
    return catalog


@pytest.mark.postgres_nightly
def test_a_write_is_known_from_its_complete(written):
    """Use neither the slab's end nor the producer's time."""
    arrivals = Arrivals(
        [event("START", 400_000_100), event("COMPLETE", 520_000_000, outputs=["orders"])]
    )

    facts = collect_arrivals(written, SLAB, arrivals).to_pylist()

    known = [(row["visible_at"], row["write"] is not None, row["started_at"]) for row in facts]
    assert known == [
        (from_micros(520_000_000), True, None),
        (from_micros(400_000_100), False, from_micros(400_000_000)),
    ]
    assert facts[0]["write"]["written_at"] == from_micros(500_000_000)


@pytest.mark.postgres_nightly
def test_each_write_of_an_hour_is_known_when_it_was_reported(written):
    """Write twice within an hour, and once more by a clock that is behind.

    Leave out a write to another dataset of the application.
    """
    hours = 3 * 3_600_000_000
    with write_transaction(written) as connection:
        own = tables.dataset_write.c.dataset_key == 1
        key = spell("", "orders", NO_FOLDS).dataset_key
        connection.execute(update(tables.dataset).values(dataset_key=key, canonical_key=key))
        connection.execute(update(tables.dataset_write).where(own).values(dataset_key=key))
    arrivals = Arrivals(
        [
            event("COMPLETE", 300_000_000, outputs=["orders"]),
            event("COMPLETE", 480_000_000, outputs=["others"]),
            event("COMPLETE", 490_000_000, outputs=["orders"]),
            event("COMPLETE", 500_000_000 + hours, outputs=["orders"], time=500_000_000),
        ]
    )

    facts = collect_arrivals(written, SLAB, arrivals).to_pylist()

    reported = [(row["visible_at"], row["write"]["written_at"]) for row in facts if row["write"]]
    assert reported == [
        (from_micros(300_000_000), from_micros(300_000_000)),
        (from_micros(490_000_000), from_micros(490_000_000)),
        (from_micros(500_000_000 + hours), from_micros(500_000_000)),
    ]


@pytest.mark.postgres_nightly
def test_rows_of_another_slab_are_left_out(written):
    """Leave out earlier rows."""
    assert collect_arrivals(written, NEXT, Arrivals([])).num_rows == 0


def test_a_run_that_began_before_a_slab_fails_in_it(written):
    """Land the run with the slab in which it began, and its end with the next one."""
    failed = {"failed_at": 950_000_000, "last_event_at": 950_000_000}
    with write_transaction(written) as connection:
        connection.execute(update(tables.run).values(failed))

    facts = collect_arrivals(written, NEXT, Arrivals([event("FAIL", 960_000_000)])).to_pylist()

    [failure] = [row for row in facts if row["failed"] is not None]
    assert failure["visible_at"] == from_micros(960_000_000)
    assert failure["failed"]["failed_at"] == from_micros(950_000_000)


def test_a_night_whose_write_is_followed_by_another_is_no_backfill(written):
    """Count it as newest on arrival: two nights of one slab, slightly more than a cadence apart."""
    day = 86_400_000_000
    with write_transaction(written) as connection:
        connection.execute(update(tables.dataset_write).values(nominal_start_at=0))
        [row] = connection.execute(tables.dataset_write.select()).mappings()
        later = {"root_run_id": "root-2", "written_at": 500_000_000 + day, "nominal_start_at": day}
        connection.execute(insert(tables.dataset_write), dict(row) | later)
        again = {"root_run_id": "root-3", "written_at": 600_000_000 + day, "nominal_start_at": 0}
        connection.execute(insert(tables.dataset_write), dict(row) | again)
        limit = {"dataset_key": 1, "gaps": 20, "cadence_seconds": 86_390.0, "learned_at": 1}
        limit |= {"limit_seconds": 9e4, "cadence_class": "periodic", "explanation": ""}
        connection.execute(insert(tables.dataset_limit), limit)

    facts = collect_arrivals(written, SLAB, Arrivals([])).to_pylist()

    roots = {row["write"]["root_run_id"] for row in facts if row["write"] is not None}
    assert roots == {ROOT, "root-2"}


def test_the_complete_of_the_last_run_of_a_root_reports_the_write():
    """Complete a CTAS by the last of its three runs.

    An application that writes for hours has a write in each.
    """
    arrivals = Arrivals(
        [
            event("COMPLETE", 10, run="a", outputs=["orders"]),
            event("COMPLETE", 30, run="b", outputs=["orders"]),
            event("COMPLETE", 40, run="c"),
            event("COMPLETE", 50, run=ROOT, root=None),
            event("COMPLETE", 3_600_000_010, run="d", outputs=["orders"]),
        ]
    )

    hour = 3_600_000_000
    found = {at: [one[:2] for one in wrote] for at, wrote in arrivals.of_write.items()}
    assert found == {(ROOT, 0): [(10, 10), (30, 30)], (ROOT, 1): [(hour + 10, hour + 10)]}
    assert arrivals.of_event["c", "COMPLETE"] == 40


def test_earlier_facts_are_known_from_the_beginning(catalog):
    """Return one row per dataset, with its newest write and failure."""
    fields = {
        "last_written_at": 3,
        "last_write_root_run_id": "r",
        "last_job_namespace": "shop",
        "last_job_name": "load",
        "last_write_names_input": True,
        "last_write_is_reported": True,
        "last_write_is_streaming": False,
        "last_failed_at": 4,
        "last_failed_run_id": "f",
    }
    with write_transaction(catalog) as connection:
        row = {"dataset_key": 1, "writes": 1, "learned_writes": 0, **fields}
        connection.execute(insert(tables.dataset_activity), row)

    (fact,) = stood(catalog, 77).to_pylist()

    assert fact["visible_at"] == from_micros(77)
    assert (fact["write"]["written_at"], fact["failed"]["run_id"]) == (from_micros(3), "f")
