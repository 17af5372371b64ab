"""Incident of collectors that are silent."""

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import LOG_LAST_GOODBYE
from tests.alerts.detection.catalog_builder import micros
from tests.alerts.detection.conftest import NOON


def test_the_incident_of_silence_names_the_silent_collectors(watched):
    """Name those whose last heartbeat begins an open gap, and no collector that has ended."""
    names = [f"c-{number}" for number in range(7)]
    beats = [{"collector": name, "heartbeat_at": micros(NOON)} for name in names]
    beats.append({"collector": "back", "heartbeat_at": micros(NOON - 60)})
    gaps = [
        {"started_at": micros(NOON - 60), "ended_at": micros(NOON - 30)},
        {"started_at": micros(NOON), "ended_at": None},
    ]
    with write_transaction(watched.engine) as connection:
        connection.execute(tables.log_collector.insert(), beats)
        connection.execute(tables.ingestion_gap.insert(), gaps)
        connection.execute(tables.meta.insert(), {"name": LOG_LAST_GOODBYE, "value": "c-0"})
    watched.at(NOON)
    watched.until(NOON + 300)

    assert (watched.one.root_name, watched.one.root_kind) == ("collector", "ingestion")
    assert watched.one.evidence == "no heartbeat of c-1, c-2, c-3, c-4, c-5 and 1 more"
