"""Parsing and facts, frame by frame."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F
from spools import frame, run_event

from lineage.keys import key
from slis.stream import facts
from slis.stream.event_times import instant
from slis.stream.parse import parse


def cells(found):
    """The frame's rows as tuples, in order."""
    return sorted(tuple(row) for row in found.collect())


def read(spark, texts):
    """What `instant` makes of the texts."""
    told = spark.createDataFrame([(text,) for text in texts], "text string").coalesce(1)
    micros = told.select(F.unix_micros(instant(F.col("text"))))
    return [row[0] for row in micros.collect()]


def micros(*parts: int) -> int:
    """Microseconds of an instant in UTC."""
    return (datetime(*parts, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


TOLD = {
    "2026-11-21T02:03:29.94Z": micros(2026, 11, 21, 2, 3, 29, 940_000),
    "2026-11-21T02:03:29z": micros(2026, 11, 21, 2, 3, 29),
    "2026-11-21T02:03:29.123456789Z": micros(2026, 11, 21, 2, 3, 29, 123_456),
    "2026-11-21T02:03:29.000000001": micros(2026, 11, 21, 2, 3, 29),
    "2026-11-21T12:03:29.5+10:00": micros(2026, 11, 21, 2, 3, 29, 500_000),
    "2026-11-21T02:03Z": micros(2026, 11, 21, 2, 3),
    "2026-11-21T02:03+01:00[Europe/Berlin]": micros(2026, 11, 21, 1, 3),
    "2026-11-21T02:03:29.5z[Etc/GMT+0]": micros(2026, 11, 21, 2, 3, 29, 500_000),
    "2026-11-21T02:03:29-0330[America/St_Johns]": micros(2026, 11, 21, 5, 33, 29),
    "2026-11-21T02:03[Europe/Berlin]": None,
    "2026-02-30T00:00:00Z": None,
    "02:03": None,
    "2026": None,
    "yesterday": None,
}


def test_an_instant_is_read_whatever_its_spelling(spark):
    """1 to 9 fraction digits, Z and offsets; without a zone UTC; what is no instant is null."""
    assert dict(zip(TOLD, read(spark, TOLD), strict=True)) == TOLD


_INSTANTS = st.datetimes(
    datetime(1980, 1, 1),  # noqa: DTZ001 - hypothesis adds the zone
    datetime(2100, 1, 1),  # noqa: DTZ001
    timezones=st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=st.lists(_INSTANTS, min_size=20, max_size=20))
def test_an_instant_is_read_as_python_reads_it(spark, told):
    """Any microsecond, at any offset of whole minutes."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    expected = [(at - epoch) // timedelta(microseconds=1) for at in told]

    assert read(spark, [at.isoformat() for at in told]) == expected


def test_a_run_fact_folds_the_events_of_one_run(spark, at):
    """Earliest and latest START, latest COMPLETE and FAIL; the job is the application."""
    parsed = parse(
        frame(
            spark,
            [
                run_event("COMPLETE", at(10), root=("a1", "shop")),
                run_event("START", at(8), root=("a1", "shop")),
                run_event("FAIL", at(9), root=("a1", "shop")),
                run_event("START", at(9.5), root=("a1", "shop")),
                run_event("ABORT", at(9.75), root=("a1", "shop")),
            ],
            at(12),
        )
    )

    found = facts.runs(parsed).select(
        *("run_key", "root_run_id", "root_job_name", "started_at", "last_start_at"),
        *("completed_at", "last_fail_at"),
    )
    naive = [at(hour).replace(tzinfo=None) for hour in (8, 9.5, 10, 9.75)]
    assert cells(found) == [(key("r1", "j", "shop"), "a1", "shop", *naive)]


def test_an_application_of_spark_is_named_before_the_first_dot(spark, at):
    """Without a parent facet, the plan behind the dot changes from run to run.

    Other producers' dots stay.
    """
    spark_job = run_event("START", at(8), job="shop.execute_insert.t")
    spark_job["job"]["facets"]["jobType"]["integration"] = "SPARK"

    parsed = parse(frame(spark, [spark_job, run_event("START", at(8), job="dag.task")], at(12)))

    assert cells(parsed.select("root_job_name")) == [("dag.task",), ("shop",)]


def test_what_a_run_read_and_wrote_is_keyed_by_spelling(spark, at):
    """One row a run, dataset and direction, with the figures of the last event that had any."""
    parsed = parse(
        frame(
            spark,
            [
                run_event("START", at(8), inputs=["in"], outputs=["out"]),
                run_event("COMPLETE", at(9), inputs=["in"], outputs=["out"], rows_written=5),
            ],
            at(12),
        )
    )

    found = facts.run_io(facts.mentions(parsed)).select(
        *("spelling_key", "direction", "has_statistics", "rows")
    )
    assert cells(found) == sorted(
        [(key("n", "in"), "read", False, None), (key("n", "out"), "write", True, 5)]
    )


@pytest.mark.parametrize("given_facets", [{}, {"schema": "not an object"}, {"tags": {"tags": 5}}])
def test_odd_facets_describe_a_dataset_without_them(spark, at, given_facets):
    """The dataset is known all the same."""
    event = run_event("COMPLETE", at(8), outputs=[("t", given_facets)])

    found = facts.described(facts.mentions(parse(frame(spark, [event], at(12)))))

    assert cells(found.select("name", "fields", "tags", "version")) == [("t", None, None, None)]
