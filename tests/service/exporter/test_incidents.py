"""Metrics of incidents that people judged, and the label of a root."""

import pytest
from sqlalchemy import text as sql

from alerts.operator_actions import verdicts
from alerts.root_cause.faults import LABEL_OF_ROOT, FaultRoot, label_of_root
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


@pytest.mark.parametrize(
    ("root", "label"),
    [
        (FaultRoot("service", 0, "ingestion", "pipeline"), "pipeline"),
        (FaultRoot("cause", 7, "failed", "Spark 4.1"), "failed"),
        (FaultRoot("job", 7, "failed"), "failed"),
    ],
)
def test_code_and_sql_have_one_label_of_a_root(embedded, root, label):
    """Name the part of Lineward that fails; of any other root, the kind of the fault."""
    row = "(SELECT :entity AS root_entity, :kind AS root_kind, :name AS root_name) AS i"
    given = {"entity": root.entity, "kind": root.kind, "name": root.name}
    with embedded.connect() as connection:
        found = connection.scalar(sql(f"SELECT {LABEL_OF_ROOT} FROM {row}"), given)  # noqa: S608

    assert label_of_root(root) == found == label
