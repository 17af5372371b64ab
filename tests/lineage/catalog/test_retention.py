"""Retention of catalog tables: every table has a rule or a bound."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Boolean, Text, func, insert, select

from lineage.catalog import deleting, tables
from lineage.catalog.deleting import delete_old, delete_where, note_retention, retention_time
from lineage.catalog.engine import write_transaction
from lineage.catalog.retention import BOUNDS, RETENTION_RULES
from lineage.process.clock import to_micros

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DAYS = {"event_days": 7, "write_days": 180, "audit_days": 400}
DAYS |= {"history_days": 400, "access_days": 400}


def ago(days):
    """Return so many days before now, in µs."""
    return to_micros(NOW - timedelta(days=days))


def _nothing(kind):
    if isinstance(kind, Boolean):
        return False
    return "" if isinstance(kind, Text) else 0


def put(catalog, table, **given):  # noqa: ANN003
    """Insert a row: columns without a value are 0, empty or false."""
    row = {
        column.name: _nothing(column.type)
        for column in table.c
        if not column.nullable and column.server_default is None
    }
    row |= given
    with write_transaction(catalog) as connection:
        connection.execute(insert(table), row)


def put_dataset(catalog, key, days, **given):  # noqa: ANN003
    """Add a dataset last seen so many days ago."""
    seen = {"first_seen_at": ago(days), "last_seen_at": ago(days), "name": f"t{key}"}
    put(catalog, tables.dataset, dataset_key=key, **{"canonical_key": key, **seen, **given})


def delete(catalog, now=NOW):
    """Delete as both roles."""
    return {
        **delete_old(catalog, "pipeline", now, DAYS, write_transaction),
        **delete_old(catalog, "service", now, DAYS, write_transaction),
    }


def keys(catalog, column):
    """Return all values of a column."""
    with catalog.connect() as connection:
        return sorted(connection.scalars(select(column)))


def test_every_table_has_a_rule_or_a_bound():
    """Fail for a new table without one: add it to `lineage.catalog.retention`."""
    named = [*RETENTION_RULES, *BOUNDS]

    assert sorted(named) == sorted(tables.metadata.tables)


def test_every_rule_is_read_by_both_databases(catalog):
    """Delete nothing from an empty catalog."""
    assert delete(catalog) == {}


def test_an_unused_name_is_deleted_with_its_facts(catalog):
    """Delete names of temporary tables, which are endless; keep declared ones and their edges."""
    for key, days in ((1, 181), (2, 179), (3, 500), (4, 500)):
        put_dataset(catalog, key, days)
        put(catalog, tables.dataset_activity, dataset_key=key)
        put(catalog, tables.dataset_limit, dataset_key=key)
        put(catalog, tables.dataset_write, dataset_key=key, written_at=ago(500))
        put(catalog, tables.schema_version, dataset_key=key, last_seen_at=ago(1))
        edge = {"upstream_key": key, "downstream_key": 2, "last_seen_at": ago(1)}
        put(catalog, tables.edge, **edge)
        put(catalog, tables.column_edge, **edge)
    put(catalog, tables.dataset_policy, dataset_key=3, is_declared=True)
    put_dataset(catalog, 5, 500, canonical_key=2)
    put(catalog, tables.incident, incident_id="open", state="open", is_remembered=True)
    put(catalog, tables.incident_member, incident_id="open", dataset_key=4)

    delete(catalog)

    assert keys(catalog, tables.dataset.c.dataset_key) == [2, 3, 4, 5]
    for table in (tables.dataset_activity, tables.dataset_limit, tables.dataset_write):
        assert keys(catalog, table.c.dataset_key) == [2, 3, 4]
    assert keys(catalog, tables.schema_version.c.dataset_key) == [2, 3, 4]
    for table in (tables.edge, tables.column_edge):
        assert keys(catalog, table.c.upstream_key) == [2, 3, 4]


def test_edges_and_schemas_of_active_datasets_are_deleted_after_400_days(catalog):
    """Bound the edges of a job with another name each run; keep the newest schema."""
    for key in (1, 2):
        put_dataset(catalog, key, 0)
    for job, days in ((1, 401), (2, 399)):
        edge = {"upstream_key": 1, "downstream_key": 2, "last_seen_at": ago(days)}
        put(catalog, tables.edge, job_key=job, **edge)
        put(catalog, tables.column_edge, upstream_field=str(job), **edge)
        put(catalog, tables.tag, dataset_key=1, value=str(job), last_seen_at=ago(days))
        put(catalog, tables.field_tag, dataset_key=1, tag_key=job, last_seen_at=ago(days))
        put(catalog, tables.description, subject_key=job, last_seen_at=ago(days))
    for schema, days in ((1, 500), (2, 450), (3, 401)):
        seen = {"dataset_key": 1, "last_seen_at": ago(days)}
        put(catalog, tables.schema_version, schema_key=schema, **seen)

    delete(catalog)

    assert keys(catalog, tables.edge.c.job_key) == [2]
    assert keys(catalog, tables.column_edge.c.upstream_field) == ["2"]
    assert keys(catalog, tables.tag.c.value) == ["2"]
    assert keys(catalog, tables.field_tag.c.tag_key) == [2]
    assert keys(catalog, tables.description.c.subject_key) == [2]
    assert keys(catalog, tables.schema_version.c.schema_key) == [3]


def test_the_claim_of_an_owner_is_stored_as_long_as_the_owner(catalog):
    """Keep the claim: without it, an owner reported by others alone would take effect."""
    put_dataset(catalog, 1, 0)
    put(catalog, tables.dataset_policy, dataset_key=2, is_declared=True)
    for key, owner, days in ((1, "seen", 399), (1, "gone", 401), (2, "declared", 500)):
        owned = {"subject": "dataset", "subject_key": key, "owner": owner}
        put(catalog, tables.ownership, **owned, last_seen_at=ago(days))
        claim = {"dataset_key": key, "kind": "owner", "value": owner, "last_landed_at": ago(500)}
        put(catalog, tables.attribute_claim, **claim)

    delete(catalog)

    assert keys(catalog, tables.ownership.c.owner) == ["declared", "seen"]
    assert keys(catalog, tables.attribute_claim.c.value) == ["declared", "seen"]


def test_the_first_and_last_evaluation_and_a_week_are_kept(catalog):
    """Thin thousands a day."""
    for days in (90, 60, 8, 7, 1):
        put(catalog, tables.evaluation, as_of=ago(days) + 1)
    delete(catalog)
    assert keys(catalog, tables.evaluation.c.as_of) == [ago(days) + 1 for days in (90, 7, 1)]

    delete(catalog, NOW + timedelta(days=400))
    assert keys(catalog, tables.evaluation.c.as_of) == [ago(90) + 1, ago(1) + 1]


def test_hours_of_slis_stay_for_400_days(catalog):
    """Delete hours after 400 days: budgets and ratios use 30."""
    for table in (tables.sli_hour, tables.served_hour):
        for days in (401, 399, 30):
            put(catalog, table, hour=ago(days))
    delete(catalog)

    assert keys(catalog, tables.sli_hour.c.hour) == [ago(399), ago(30)]
    assert keys(catalog, tables.served_hour.c.hour) == [ago(399), ago(30)]


def test_a_resolved_incident_is_deleted_with_all_of_its_rows(catalog):
    """Delete its impact, the largest table, after 90 days; keep all of an open incident."""
    ends = {"old": ago(401), "ended": ago(91), "fresh": ago(89), "open": None}
    parts = [tables.incident_event, tables.incident_member, tables.incident_escalation]
    for name, end in ends.items():
        state = "resolved" if end else "open"
        put(catalog, tables.incident, incident_id=name, state=state, resolved_at=end)
        for table in (*parts, tables.incident_impact):
            put(catalog, table, incident_id=name)

    delete(catalog)

    assert keys(catalog, tables.incident.c.incident_id) == ["ended", "fresh", "open"]
    for table in parts:
        assert keys(catalog, table.c.incident_id) == ["ended", "fresh", "open"]
    assert keys(catalog, tables.incident_impact.c.incident_id) == ["fresh", "open"]


def test_an_application_that_still_runs_is_kept(catalog):
    """Keep the rows of a streaming application that began long ago."""
    began = {"started_at": ago(200)}
    put(catalog, tables.application, application_id="ended", ended_at=ago(190), **began)
    put(catalog, tables.application, application_id="ended-lately", ended_at=ago(100), **began)
    put(catalog, tables.application, application_id="silent", **began)
    put(catalog, tables.application, application_id="by-events", **began)
    put(catalog, tables.application, application_id="by-logs", **began)
    put(catalog, tables.run, run_key=1, application_id="by-events", last_event_at=ago(1))
    put(catalog, tables.run, run_key=2, application_id="silent", last_event_at=ago(181))
    put(catalog, tables.execution, application_id="by-logs", started_at=ago(1))

    delete(catalog)

    kept = keys(catalog, tables.application.c.application_id)
    assert kept == ["by-events", "by-logs", "ended-lately"]


def test_tables_of_the_service_are_bounded_too(catalog):
    """Keep the policy in force at the oldest row of the audit log, and a future window."""
    for days in (900, 500, 390, 10):
        put(catalog, tables.access_version, in_force_from=ago(days))
    for number, days in enumerate((500, 399, -30), start=1):
        put(catalog, tables.suppression, id=number, until_at=ago(days))
    for name, received, ended in (
        ("lost", 91, None),
        ("firing", 1, None),
        ("ended", 91, 91),
        ("to come", 91, -1),
    ):
        ends = None if ended is None else ago(ended)
        row = {"received_at": ago(received), "ends_at": ends}
        put(catalog, tables.received_alert, fingerprint=name, **row)
    put_dataset(catalog, 1, 500)
    put(catalog, tables.dataset_policy, dataset_key=1, is_declared=True)
    for key in (1, 2):
        put(catalog, tables.retirement, dataset_key=key, requested_at=ago(450))

    delete(catalog)

    assert keys(catalog, tables.access_version.c.in_force_from) == [
        ago(days) for days in (500, 390, 10)
    ]
    assert keys(catalog, tables.suppression.c.id) == [2, 3]
    assert keys(catalog, tables.received_alert.c.fingerprint) == ["firing", "to come"]
    assert keys(catalog, tables.retirement.c.dataset_key) == [1]


def test_events_of_the_future_are_deleted(catalog):
    """Delete events that landed while the clock was years ahead."""
    for key, days in enumerate((8, 6, -0.5, -2, -26_000)):
        put(catalog, tables.event, event_key=key, event_time=ago(days))

    delete(catalog)

    assert keys(catalog, tables.event.c.event_key) == [1, 2]


def test_rows_are_deleted_in_slices(catalog, monkeypatch):
    """Let others wait for one slice at most; take no lock for a table without old rows."""
    monkeypatch.setattr(deleting, "_ROWS", 10)
    begun = []

    def counted(engine):
        begun.append(1)
        return write_transaction(engine)

    for days in range(25):
        put(catalog, tables.sli_hour, hour=ago(500 + days))

    given = {"before": ago(400)}
    assert delete_where(catalog, "sli_hour", "hour < :before", given, counted) == 25
    assert len(begun) == 3
    assert delete_where(catalog, "sli_hour", "hour < :before", given, counted) == 0
    assert len(begun) == 3


@pytest.mark.parametrize("ahead", [60, 3_600, 30 * 86_400, 3_650 * 86_400])
def test_a_clock_ahead_moves_retention_by_a_day_at_most(embedded, ahead):
    """Limit the step: deletions cannot be undone."""
    with write_transaction(embedded) as connection:
        assert retention_time(connection, NOW) == NOW
        note_retention(connection, NOW)
        jumped = retention_time(connection, NOW + timedelta(seconds=ahead))
        note_retention(connection, jumped)

        assert jumped == NOW + min(timedelta(seconds=ahead), timedelta(days=1))
        assert retention_time(connection, NOW) == jumped
        later = NOW + timedelta(days=3)
        assert retention_time(connection, later) == min(later, jumped + timedelta(days=1))


def test_a_clock_behind_stops_no_retention_when_it_is_right_again(embedded):
    """Keep the reached time, here from 1970 on."""
    with write_transaction(embedded) as connection:
        note_retention(connection, NOW)
        assert retention_time(connection, datetime(1970, 1, 2, tzinfo=UTC)) == NOW
        note_retention(connection, NOW)

        hour = NOW + timedelta(hours=1)
        assert retention_time(connection, hour) == hour


def test_the_log_of_a_catalog_on_sqlite_is_bounded(embedded):
    """Truncate the log: otherwise it keeps the size of the largest transaction."""
    with embedded.connect() as connection:
        limit = connection.exec_driver_sql("PRAGMA journal_size_limit").scalar()
        assert limit == 64 << 20
        assert connection.scalar(select(func.count()).select_from(tables.meta)) == 0
