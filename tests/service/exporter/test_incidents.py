"""Metrics of incidents that people judged."""

from alerts.operator_actions import verdicts
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import open_reader
from service.exporter.incidents import verdict_families
from tests.alerts.operator_actions.incident_catalog import IncidentCatalog


def _samples(engine):
    with open_reader(engine.url.render_as_string(hide_password=False)) as reader:
        return {
            (one.name, *one.labels.values()): one.value
            for family in verdict_families(reader)
            for one in family.samples
        }


def test_without_verdicts_there_is_no_series(embedded):
    """Show neither right nor wrong incidents."""
    assert _samples(embedded) == {}


def test_each_incident_is_judged_once_by_kind(embedded):
    """Count a verdict and a later false alarm once each, however often they are repeated."""
    one = IncidentCatalog(embedded).one.id
    for text in (
        verdicts.record_reviewed,
        verdicts.record_false_alarm,
        verdicts.record_reviewed,
        verdicts.record_false_alarm,
    ):
        with write_transaction(embedded) as connection:
            text(connection, one)

    name = "lineage_incident_verdicts_total"
    assert _samples(embedded) == {
        (name, "failed", "judged"): 1.0,
        (name, "failed", "false_alarm"): 1.0,
    }
