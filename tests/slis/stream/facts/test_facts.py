"""Facts of events, before they are merged."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage.names.keys import key
from lineage.process.clock import to_micros
from slis.stream.facts import extract_from_table
from slis.stream.reading.event_times import parse_time
from tests.slis.stream.spools import read, run_event, table


def micros(*parts: int) -> int:
    """Return the microseconds of a time in UTC."""
    return (datetime(*parts, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


TIMES = {
    "2026-11-21T02:03:29.94Z": micros(2026, 11, 21, 2, 3, 29, 940_000),
    "2026-11-21T02:03:29z": micros(2026, 11, 21, 2, 3, 29),
    "2026-11-21T02:03:29.123456789Z": micros(2026, 11, 21, 2, 3, 29, 123_456),
    "2026-11-21T02:03:29.000000001": micros(2026, 11, 21, 2, 3, 29),
    "2026-11-21T12:03:29.5+10:00": micros(2026, 11, 21, 2, 3, 29, 500_000),
    "2026-11-21T02:03Z": micros(2026, 11, 21, 2, 3),
    "2026-11-21T02:03+01:00[Europe/Berlin]": micros(2026, 11, 21, 1, 3),
    "2026-11-21T02:03:29.5z[Etc/GMT+0]": micros(2026, 11, 21, 2, 3, 29, 500_000),
    "2026-11-21T02:03:29-0330[America/St_Johns]": micros(2026, 11, 21, 5, 33, 29),
    "2026-11-21 02:03:29 UTC": micros(2026, 11, 21, 2, 3, 29),
    "2026-11-21T02:03:29+1:00": micros(2026, 11, 21, 1, 3, 29),
    "2026-11-21T02:03:29GMT-01:00": micros(2026, 11, 21, 3, 3, 29),
    "2026-11-21": micros(2026, 11, 21),
    "2026-11-21T02:03[Europe/Berlin]": None,
    "2026-11-21T24:00:00Z": None,
    "2026-11-21T02:60:00Z": None,
    "2026-11-21T02:03:29+19:00": None,
    "1969-12-31T23:59:59Z": None,
    "2200-01-01T00:00:00Z": None,
    "2026-02-30T00:00:00Z": None,
    "02:03": None,
    "2026": None,
    "yesterday": None,
}


def test_a_time_is_read_in_any_spelling():
    """Read 1 to 9 fraction digits, Z and offsets; assume UTC; return None for no time."""
    assert {text: parse_time(text) for text in TIMES} == TIMES


_INSTANTS = st.datetimes(
    datetime(1980, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
)


@given(instant=_INSTANTS)
def test_a_time_is_read_as_python_reads_it(instant):
    """Read any microsecond, at any offset of whole minutes."""
    expected = (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)

    assert parse_time(instant.isoformat()) == expected


def _numbers(most, digits=2):
    return st.integers(0, most).map(lambda number: f"{number:0{digits}}")


_PARTS = (_numbers(9999, 4), *(_numbers(most) for most in (13, 32, 25, 61, 61)))
_FRACTION = st.integers(1, 9).flatmap(lambda digits: _numbers(10**digits - 1, digits))
_ZONES = st.sampled_from(["Z", "+00:00"])


@given(parts=st.tuples(*_PARTS), fraction=st.just("") | _FRACTION.map(".{}".format), zone=_ZONES)
def test_the_usual_form_of_a_time_is_read_as_any_other_form_is(parts, fraction, zone):
    """Return the time that the text has behind a blank, by which it is not in the usual form."""
    text = "{}-{}-{}T{}:{}:{}".format(*parts) + fraction + zone

    assert parse_time(text) == parse_time(f" {text}")


def facts_of(events, received_at):
    """Return the facts of these events."""
    return extract_from_table(table(events, received_at))


def test_a_run_fact_folds_the_events_of_one_run(at):
    """Keep earliest and latest START, latest COMPLETE and FAIL; the job is the application."""
    [(run, times)] = facts_of(
        [
            run_event("COMPLETE", at(10), root=("a1", "shop")),
            run_event("START", at(8), root=("a1", "shop")),
            run_event("FAIL", at(9), root=("a1", "shop")),
            run_event("START", at(9.5), root=("a1", "shop")),
            run_event("ABORT", at(9.75), root=("a1", "shop")),
        ],
        at(12),
    ).runs

    assert (run.run_key, *run.jobs[:3]) == (key("r1", "j", "shop"), "a1", "j", "shop")
    found = times.started_at, times.last_start_at, times.completed_at, times.last_fail_at
    assert found == tuple(to_micros(at(hour)) for hour in (8, 9.5, 10, 9.75))


def test_an_application_of_spark_is_named_before_the_first_dot(at):
    """Cut the plan behind the dot, which changes between runs without a parent facet.

    Names of other producers keep their dots.
    """
    spark_job = run_event("START", at(8), job="shop.execute_insert.t")
    spark_job["job"]["facets"]["jobType"]["integration"] = "SPARK"
    other = run_event("START", at(8), job="dag.task")

    assert [read(one, at(12)).jobs.root_job_name for one in (spark_job, other)] == [
        "shop",
        "dag.task",
    ]


def test_reads_and_writes_of_a_run_are_keyed_by_spelling(at):
    """Return one row per run, dataset and direction, with the figures of the last event."""
    found = facts_of(
        [
            run_event("START", at(8), inputs=["in"], outputs=["out"]),
            run_event("COMPLETE", at(9), inputs=["in"], outputs=["out"], rows_written=5),
        ],
        at(12),
    ).run_io

    touched = [(io.spelling_key, io.direction, io.has_statistics, io.rows) for io in found]
    assert touched == [(key("n", "in"), "read", 0, None), (key("n", "out"), "write", 1, 5)]


@pytest.mark.parametrize("given_facets", [{}, {"schema": "not an object"}, {"tags": {"tags": 5}}])
def test_odd_facets_describe_a_dataset_without_them(at, given_facets):
    """Keep the dataset."""
    event = run_event("COMPLETE", at(8), outputs=[("t", given_facets)])

    [found] = facts_of([event], at(12)).described

    assert (found.name, found.fields, found.tags, found.version) == ("t", None, [], None)


def test_each_event_of_a_large_batch_is_read_once_and_in_order(at):
    """Read more events than become values of Python at once."""
    found = facts_of([run_event("START", at(8), run=f"r{number}") for number in range(250)], at(12))

    assert [row.seq for row in found.events] == list(range(1, 251))
    assert [run.run_id for run, _ in found.runs] == [f"r{number}" for number in range(250)]
