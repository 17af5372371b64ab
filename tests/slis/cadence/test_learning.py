"""Facts that limits are learned from, read from a catalog."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.policy import Policy
from slis.cadence.learning import _DURATIONS
from slis.evaluation.evaluation import evaluate
from tests.slis.catalog_rows import CatalogRows
from tests.slis.plans import plan_of
from tests.slis.sli_frames import day


def test_a_flapping_job_keeps_its_cadence_by_its_failed_runs(spark, catalog):
    """Keep an hourly cadence by the failures alone: two of three runs failed for a day."""
    rows = CatalogRows(catalog, day(0))
    names = ("own", "unexplained", "elsewhere")
    own, unexplained, elsewhere = (rows.dataset(f"mart.{name}") for name in names)
    for hour in range(96):
        when = day(0, hour + hour % 7 / 100)
        for at, failing in ((own, own), (unexplained, elsewhere)):
            if hour < 72 or hour % 3 == 2:
                rows.written(at, when)
            else:
                rows.failed(failing, when + timedelta(seconds=failing == elsewhere))

    evaluate(spark, catalog, Policy(), day(4))

    cadences = {
        row["dataset_key"]: row["cadence_seconds"] for row in rows.rows(tables.dataset_limit)
    }
    assert cadences.keys() == {own, unexplained}
    assert cadences[own] < 2 * 3_600 <= cadences[unexplained]


_BY_APPLICATION = """
    UPDATE dataset_write SET bucket = written_at, root_run_id = CASE WHEN dataset_key = :server
        THEN 'server' ELSE 'night-' || (written_at / 86400000000) END
"""
_QUERIES = """
    INSERT INTO run (run_key, run_id, root_run_id, job_namespace, job_name, root_job_namespace,
        root_job_name, first_event_at, last_event_at, started_at, completed_at, landed_at,
        is_history)
    SELECT written_at, 'q' || written_at, root_run_id, 'j', 'q', 'j', 'app', written_at,
        written_at, written_at - 60000000, written_at, written_at, 1 = 0
    FROM dataset_write
"""


@pytest.mark.postgres_nightly
def test_an_application_is_one_delivery_a_night_or_writes_all_day(spark, catalog):
    """Learn a day from nightly applications, each of which writes in three hours.

    Learn an hour from a Thrift server, which is one root run. Its queries take a minute.
    """
    rows = CatalogRows(catalog, day(0))
    server, nightly = rows.dataset("mart.server"), rows.dataset("mart.nightly")
    for number in range(14):
        for hour in (1.8, 2.8, 3.5):
            rows.written(nightly, day(number, hour))
    for hour in range(30):
        rows.written(server, day(12, hour + 0.9))
    with write_transaction(catalog) as connection:
        connection.execute(text(_BY_APPLICATION), {"server": server})
        connection.execute(text(_QUERIES))

    evaluate(spark, catalog, Policy(), day(14))

    learned = {limit["dataset_key"]: limit for limit in rows.rows(tables.dataset_limit)}
    usual = {key: limit["cadence_seconds"] / 3_600 for key, limit in learned.items()}
    assert usual == pytest.approx({server: 1, nightly: 24}, rel=0.01)
    took = {key: timedelta(seconds=row["duration_seconds"]) for key, row in learned.items()}
    assert took == {server: timedelta(minutes=1), nightly: timedelta(minutes=103)}


def test_the_query_that_wrote_last_in_an_hour_is_found_by_its_start(embedded):
    """Read the runs of one hour: a root run of months has later ones without number."""
    hours = {"since": 0, "due": "SELECT 1 AS dataset_key", "long_run": 2, "hour": 1}

    with embedded.connect() as connection:
        plan = plan_of(connection, _DURATIONS.format(**hours))

    assert "(root_run_id=? AND started_at>? AND started_at<?)" in plan
