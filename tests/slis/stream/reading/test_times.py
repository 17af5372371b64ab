"""Times outside the years 1970 to 2199 are recorded as problems and reach no table."""

import pytest

from lineage.catalog import tables
from lineage.process.clock import to_micros
from slis.evaluation.catalog_frames import frame, read_frame
from slis.evaluation.catalog_frames import frame_rows as python_rows
from slis.spark.planning import local_rows
from slis.stream.reading.problems import NOMINAL_END, NOMINAL_START
from tests.slis.stream.spools import rows, run_event

OUTSIDE = (
    "0001-01-01T00:00:00+01:00",
    "0001-01-01T00:00:00Z",
    "1969-12-31T23:59:59Z",
    "2200-01-01T00:00:00Z",
    "9999-12-31T23:59:59-05:00",
)
# Spark has no calendar for these.
NO_INSTANT = (
    "10000-01-01T00:00:00Z",
    "+12026-11-21T00:00:00Z",
    "-0001-11-21T00:00:00Z",
    "292278994-08-17T07:12:55.807Z",
    "9999-12-31T24:00:00Z",
    "2026-11-21T09:00:00+23:59",
    "09:00:00",
    "tomorrow",
)
STORED = (-(2**63), -62_135_600_400_000_000, -1, 7_258_118_400_000_000, 2**63 - 1)


def _at(event, time, *, nominal=None):
    if nominal is not None:
        event["run"]["facets"]["nominalTime"] = {"nominalStartTime": nominal}
    return event | {"eventTime": time}


def test_an_event_of_such_a_time_is_a_problem_and_its_neighbour_lands(lander, catalog, at):
    """Land the neighbour, and refresh no dataset by the event, which came unchecked."""
    events = []
    for number, time in enumerate(OUTSIDE):
        odd = run_event("COMPLETE", at(9), run=f"odd{number}", outputs=[f"odd{number}"])
        fine = run_event("COMPLETE", at(8), run=f"fine{number}", outputs=[f"fine{number}"])
        events += [_at(odd, time), fine]
    lander.land(*events)

    assert rows(catalog, "SELECT spool_seq, reason, detail FROM pipeline_error ORDER BY 1") == [
        (
            2 * number + 1,
            "core_unreadable",
            f"eventTime: expected a time of the years 1970 to 2199 in ISO 8601, got {time}",
        )
        for number, time in enumerate(OUTSIDE)
    ]
    fine = [(f"fine{number}",) for number in range(len(OUTSIDE))]
    assert rows(catalog, "SELECT run_id FROM run ORDER BY 1") == fine
    assert rows(catalog, "SELECT name FROM dataset ORDER BY 1") == fine


def test_such_a_nominal_time_is_left_out_and_recorded(lander, catalog, at):
    """Land the run without it."""
    times = OUTSIDE + NO_INSTANT
    lander.land(
        *(
            _at(
                run_event("COMPLETE", at(9), run=f"r{number:02}", outputs=[f"t{number}"]),
                at(9).isoformat(),
                nominal=time,
            )
            for number, time in enumerate(times)
        )
    )

    assert rows(catalog, "SELECT run_id, nominal_start_at FROM run ORDER BY 1") == [
        (f"r{number:02}", None) for number in range(len(times))
    ]
    assert rows(catalog, "SELECT reason, detail FROM pipeline_error ORDER BY spool_seq") == [
        (
            "partly_unreadable",
            f"{NOMINAL_START}: expected a time of the years 1970 to 2199, got {time}",
        )
        for time in times
    ]


def test_such_an_end_of_the_nominal_time_is_recorded(lander, catalog, at):
    """Keep the start."""
    times = [OUTSIDE[0], OUTSIDE[3], *NO_INSTANT]
    events = [
        _at(
            run_event("COMPLETE", at(9), run=f"r{number}"),
            at(9).isoformat(),
            nominal=at(8).isoformat(),
        )
        for number in range(len(times))
    ]
    for event, time in zip(events, times, strict=True):
        event["run"]["facets"]["nominalTime"]["nominalEndTime"] = time
    lander.land(*events)

    starts = rows(catalog, "SELECT nominal_start_at FROM run")
    assert starts == [(to_micros(at(8)),)] * len(times)
    assert rows(catalog, "SELECT detail FROM pipeline_error ORDER BY spool_seq") == [
        (f"{NOMINAL_END}: expected a time of the years 1970 to 2199, got {time}",) for time in times
    ]


@pytest.mark.postgres_nightly
def test_a_nominal_time_without_a_text_is_no_problem(lander, catalog, at):
    """Accept the empty end that Airflow sends for a run without one."""
    event = _at(run_event("COMPLETE", at(9)), at(9).isoformat(), nominal=" ")
    event["run"]["facets"]["nominalTime"]["nominalEndTime"] = None
    lander.land(event)

    assert rows(catalog, "SELECT detail FROM pipeline_error") == []


def test_the_last_time_of_the_range_is_valid(lander, catalog, at):
    """Use the nominal time; an event so far ahead is treated as of its arrival."""
    last = "2199-12-31T23:59:59Z"
    event = run_event("COMPLETE", at(9), outputs=["t"])
    lander.land(_at(event, last, nominal=last))

    assert rows(catalog, "SELECT count(*) FROM pipeline_error") == [(0,)]
    assert rows(catalog, "SELECT nominal_start_at FROM run") == [(7_258_118_399_000_000,)]


def test_a_time_of_an_old_catalog_is_read_within_the_range(spark, lander, catalog, at):
    """Read the nearest time in Spark and Python: earlier releases stored times unchecked."""
    runs = {f"r{number}": stored for number, stored in enumerate(STORED)}
    lander.land(*(run_event("COMPLETE", at(9), run=run, outputs=["t"]) for run in runs))
    with catalog.begin() as connection:
        for run, stored in runs.items():
            row = tables.run.update().where(tables.run.c.run_id == run)
            connection.execute(row.values(nominal_start_at=stored))
    query = "SELECT nominal_start_at FROM run ORDER BY run_id"
    columns = "nominal_start_at timestamp"

    [found] = read_frame(catalog, query, columns).to_pydict().values()
    assert [1970 <= each.year < 2200 for each in found] == [True] * len(STORED)
    given = frame(spark, catalog, query, columns)
    assert python_rows(given) == [{"nominal_start_at": each} for each in found]


def test_a_time_beyond_python_s_years_becomes_rows(spark):
    """Return rows: Spark's arithmetic may leave the years of `datetime`."""
    years = [(each,) for each in (-20_000, -1_971, 8_030, 20_000)]
    given = local_rows(spark, years, "years int").selectExpr(
        "timestamp_micros(years * 31557600000000L) AS at", "1 AS n"
    )

    assert [row["at"].year for row in python_rows(given)] == [1, 1, 9999, 9999]
