"""Metrics of open incidents, and of the time to detect and resolve them."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, update

from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, write_transaction
from lineage.catalog.reader import open_reader
from service.exporter import incidents as module
from tests.alerts.detection.catalog_builder import micros
from tests.lineage.policies import policy_row

NOON = 12 * 3600


@pytest.fixture
def samples(number, tmp_path):
    """Return a function that reads all metrics, so many days after the fault."""

    def _samples(days: float = 0):
        at = datetime.fromtimestamp(micros(NOON + 300) / 1e6, UTC) + timedelta(days=days)
        with open_reader(catalog_url(tmp_path)) as reader:
            return {
                (one.name, *one.labels.values()): one.value
                for family in module.incident_figures(reader, at)
                for one in family.samples
            }

    assert number
    return _samples


def test_an_open_incident_has_its_root_onset_and_critical_datasets(samples, number):
    """Count critical members and downstream datasets, and show no series of a resolved incident."""
    found = samples()

    each = {name: value for name, value in found.items() if number in name}
    assert each["lineage_incident_onset_timestamp_seconds", number] == micros(NOON + 200) / 1e6
    assert [name[-1] for name in each if name[0] == "lineage_incident_root"] == ["make_raw"]
    assert [name for name in found if name[0] == "lineage_incident_root"] == [
        name for name in each if name[0] == "lineage_incident_root"
    ]


def test_critical_datasets_are_counted_once(samples, number, watched):
    """Count a dataset once that is a member and downstream."""
    keys = [900, 901]
    with write_transaction(watched.engine) as connection:
        # The estate's own datasets are of other tiers than what is counted here.
        connection.execute(update(tables.dataset_policy).values(tier="optional"))
        connection.execute(insert(tables.dataset_policy), [policy_row(key) for key in keys])
        rows = [{"incident_id": number, "dataset_key": key, "hops": 1} for key in keys]
        connection.execute(insert(tables.incident_impact), rows)
        member = {"incident_id": number, "dataset_key": 900, "kind": "late", "onset": 1}
        more = {"steps": 1, "relays": "[]", "job_key": 0, "joined_at": 1}
        connection.execute(insert(tables.incident_member), {**member, **more})

    assert samples()["lineage_incident_critical_datasets", number] == 2


def test_an_unknown_time_of_impact_has_no_series(samples, number, watched):
    """Show no series instead of 0, which would be 1970."""
    with write_transaction(watched.engine) as connection:
        connection.execute(update(tables.incident).values(hit_at=None))
    assert ("lineage_incident_hit_timestamp_seconds", number) not in samples()

    with write_transaction(watched.engine) as connection:
        connection.execute(update(tables.incident).values(hit_at=7_000_000))
    assert samples()["lineage_incident_hit_timestamp_seconds", number] == 7


def test_without_incidents_the_count_is_0_and_means_are_absent(samples):
    """Show a count of 0 and no mean 40 days later."""
    now, later = samples(), samples(days=40)

    opened = {name[1:]: value for name, value in now.items() if name[0].endswith("_opened")}
    assert sum(value for (_, window), value in opened.items() if window == "7d") == 2
    assert {v for name, v in later.items() if name[0] == "lineage_incidents_opened"} == {0}
    assert not [name for name in later if name[0] == "lineage_incident_mean_seconds"]


def test_means_leave_out_false_alarms_and_merged_incidents(samples, watched):
    """Average detection after one and three minutes to two, and resolution to ten."""
    with write_transaction(watched.engine) as connection:
        columns = tables.incident.c
        connection.execute(update(tables.incident).values(severity="ticket", onset=micros(NOON)))
        both = {"opened_at": micros(NOON + 60), "resolved_at": None}
        connection.execute(update(tables.incident).values(**both))
        over = update(tables.incident).where(columns.state == "resolved")
        later = {"opened_at": micros(NOON + 180), "resolved_at": micros(NOON + 600)}
        connection.execute(over.values(**later))

    found = samples()
    assert found["lineage_incident_mean_seconds", "found", "ticket"] == 120
    assert found["lineage_incident_mean_seconds", "resolved", "ticket"] == 600
    # The old name is removed after one release.
    assert found["lineage_incident_mean_seconds", "mended", "ticket"] == 600
    assert ("lineage_incident_mean_seconds", "notified", "ticket") not in found

    with write_transaction(watched.engine) as connection:
        connection.execute(over.values(is_false_alarm=True))
    found = samples()
    assert found["lineage_incident_mean_seconds", "found", "ticket"] == 60
    assert ("lineage_incident_mean_seconds", "resolved", "ticket") not in found
