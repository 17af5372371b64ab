"""Writes of applications that run for days: Thrift servers, notebooks, foreachBatch streams."""

import pytest

from tests.slis.stream.spools import rows, run_event

_WRITES = """
    SELECT d.name, w.root_run_id, w.written_at FROM dataset_write w
    JOIN dataset d ON d.dataset_key = w.dataset_key ORDER BY 1, 3
"""
_ACTIVITY = """
    SELECT a.writes, a.last_written_at FROM dataset_activity a
    JOIN dataset d ON d.dataset_key = a.dataset_key WHERE d.name = 'out'
"""
_APPLICATION = ("a1", "thrift")


def micros(instant):
    return int(instant.timestamp()) * 1_000_000


def _insert(kind, time, number, *, outputs=("out",)):
    """Return an event of the query `number`, which the application runs."""
    return run_event(
        kind, time, run=f"q{number}", job="thrift.insert", outputs=outputs, root=_APPLICATION
    )


@pytest.mark.postgres_nightly
def test_each_hour_in_which_an_application_writes_is_a_write(lander, catalog, at):
    """Keep one write an hour, the latest, however the queries are cut into batches."""
    times = [at(7, 10), at(7, 50), at(8, 10), at(9, 30)]
    queries = [_insert("COMPLETE", time, number) for number, time in enumerate(times)]
    lander.land(*queries[2:], run_event("START", at(7), run="a1", job="thrift"))
    lander.land(*queries[:2])
    lander.land(*queries[1:3])

    written = [at(7, 50), at(8, 10), at(9, 30)]
    assert rows(catalog, _WRITES) == [("out", "a1", micros(time)) for time in written]
    assert rows(catalog, _ACTIVITY) == [(3, micros(at(9, 30)))]


def test_a_failed_query_takes_back_the_write_of_its_hour_alone(lander, catalog, at):
    """Leave what the application wrote in other hours, and by other queries of the hour."""
    times = [at(7, 10), at(8, 10), at(8, 40), at(9, 30)]
    lander.land(*(_insert("COMPLETE", time, number) for number, time in enumerate(times)))

    lander.land(_insert("FAIL", at(8, 40), 2), _insert("FAIL", at(9, 30), 3))

    written = [at(7, 10), at(8, 10)]
    assert rows(catalog, _WRITES) == [("out", "a1", micros(time)) for time in written]
    assert rows(catalog, _ACTIVITY) == [(2, micros(at(8, 10)))]


def test_a_run_that_completes_again_hours_later_is_one_write(lander, catalog, at):
    """Move the write of a task that was cleared and started again under its run id.

    Keep the write of the other query of the first hour.
    """
    lander.land(_insert("COMPLETE", at(7, 30), 1), _insert("COMPLETE", at(7, 10), 2))
    lander.land(_insert("COMPLETE", at(8, 30), 3, outputs=["other"]))
    lander.land(*(_insert("COMPLETE", at(11), number) for number in (1, 3)))

    assert rows(catalog, _WRITES) == [
        ("other", "a1", micros(at(11))),
        ("out", "a1", micros(at(7, 10))),
        ("out", "a1", micros(at(11))),
    ]
    assert rows(catalog, _ACTIVITY) == [(2, micros(at(11)))]


@pytest.mark.postgres_nightly
def test_a_stream_that_ends_and_fails_keeps_its_writes(lander, catalog, at):
    """Take back the COMPLETE alone: its figures of the same hour were read by then."""
    stream = {"outputs": ["live"], "processing": "STREAMING"}
    lander.land(
        run_event("RUNNING", at(8, 10), rows_written=1, **stream),
        run_event("COMPLETE", at(8, 30), **stream),
    )
    lander.land(run_event("FAIL", at(8, 30), **stream))

    assert rows(catalog, _WRITES) == [("live", "r1", micros(at(8, 10)))]
