"""Incidents in the command and the API, for tokens with different permissions."""

import msgspec
import pytest
from litestar.testing import TestClient
from sqlalchemy import update

from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, write_transaction
from lineage.catalog.reader import open_reader
from lineage.errors import UnknownIncidentError
from service.actions.auto_actions import incident_triggers
from service.api.app import create_app
from service.queries import incident as module
from service.queries.incident import load_incident
from service.queries.incidents import list_incidents
from service.queries.visibility import Visibility
from service.runtime.settings import Settings
from tests.alerts.detection.catalog_builder import NAMESPACE, dataset, micros
from tests.service.commandline import answer, lineward
from tests.service.incidents.conftest import NOON


@pytest.fixture
def reader(number, tmp_path):
    """Open a reader of that catalog."""
    assert number
    with open_reader(catalog_url(tmp_path)) as opened:
        yield opened


def test_open_incidents_are_listed_and_resolved_ones_on_request(reader, number):
    """List the open one first."""
    page, every = list_incidents(reader), list_incidents(reader, is_over_too=True)

    assert [row.id for row in page.incidents] == [number]
    assert [row.kind for row in every.incidents] == ["failed", "quality"]
    assert page.incidents[0].datasets == 2
    assert (page.incidents[0].root, page.incidents[0].owner) == ("make_raw", "sales")


def test_an_incident_has_datasets_evidence_and_events(reader, number):
    """Show what explains each dataset, and the run by which the root failed."""
    found = load_incident(reader, number)

    assert [(each.dataset, each.steps, each.explained_by) for each in found.members] == [
        ("raw", 0, None),
        ("core", 1, f"{NAMESPACE}/raw"),
    ]
    assert found.members[0].run_id == "run-1"
    assert [step.what for step in found.steps] == ["opened"]
    assert "failed: run run-1" in found.evidence


def test_an_incident_has_its_times_by_name(reader, number):
    """List the beginning before the detection, and no time as `since`."""
    found = load_incident(reader, number)

    begun = ["last write at", "first failed at", "late since"]
    assert [each.name for each in found.times] == [*begun, "detected at"]
    assert found.times[-1].at == found.incident.opened_at
    assert "first failed at 2026-11-21 12:03:20 UTC; late since" in found.evidence


def test_a_limited_token_gets_no_error_text(reader, number):
    """Withhold the evidence: its error may name a dataset outside the incident."""
    found = load_incident(reader, number, Visibility([NAMESPACE]))

    assert [each.dataset for each in found.members] == ["raw", "core"]
    assert found.evidence == ""


def test_an_incident_has_all_datasets_downstream_of_its_root(reader, number):
    """List datasets that are still good too, as the message links to this list."""
    found = load_incident(reader, number)

    assert [(each.dataset, each.hops) for each in found.impacted] == [("raw", 0), ("core", 1)]


def test_the_cut_part_is_named(reader, number, monkeypatch):
    """Name steps or datasets, whichever list was cut."""
    monkeypatch.setattr(module, "MOST_STEPS", 0)
    assert load_incident(reader, number).partial_reason == "the first 0 steps are listed"

    monkeypatch.setattr(module, "MOST_MEMBERS", 1)
    found = load_incident(reader, number)
    assert found.partial_reason == "the first 1 datasets and 0 steps are listed"
    assert [each.dataset for each in found.members] == ["raw"]


def test_a_list_of_the_most_severe_only_has_a_note(watched, reader, number):
    """Note that the impact is larger if the incident opened with hundreds of others."""
    assert not load_incident(reader, number).is_impacted_partial
    with write_transaction(watched.engine) as connection:
        connection.execute(update(tables.incident).values(impact_count=1_000))
    # A reader sees no commit after its first read.
    with open_reader(str(watched.engine.url)) as later:
        found = load_incident(later, number)

    assert found.is_impacted_partial
    assert found.partial
    assert found.partial_reason == f"the first {len(found.impacted)} affected datasets are listed"


def test_an_incident_without_a_visible_dataset_is_hidden(reader, number):
    """Answer as for an unknown incident."""
    blind = Visibility(["hdfs://*"])

    assert list_incidents(reader, blind).incidents == []
    with pytest.raises(UnknownIncidentError, match="lineward incidents"):
        load_incident(reader, number, blind)


def test_a_failed_run_is_visible_with_its_dataset(watched, number):
    """List the incident with no affected dataset, by its dataset too."""
    assert number
    watched.estate.add("sales")
    watched.estate.fail("sales", NOON + 310)
    watched.until(NOON + 400)
    with open_reader(str(watched.engine.url)) as later:
        [ticket] = list_incidents(
            later, Visibility([NAMESPACE]), dataset=dataset("sales")
        ).incidents
        assert (ticket.root, ticket.datasets) == ("make_sales", 0)
        [member] = load_incident(later, ticket.id, Visibility([NAMESPACE])).members
        assert (member.dataset, member.kind, member.run_id) == ("sales", "failing", "run-2")
        with pytest.raises(UnknownIncidentError):
            load_incident(later, ticket.id, Visibility(["hdfs://*"]))
    with watched.engine.connect() as connection:
        runs = [each.run for each in incident_triggers(connection, micros(NOON + 400))]
    assert "run-2" in runs


def test_a_token_for_a_member_only_gets_no_root_name(watched, reader, number):
    """List the visible dataset, and hide the name of the root."""
    watched.move("core", "hdfs://mart")
    found = load_incident(reader, number, Visibility(["hdfs://*"]))

    assert [each.dataset for each in found.members] == ["core"]
    assert [each.dataset for each in found.impacted] == ["core"]
    assert found.members[0].explained_by is None
    assert found.incident.root is None
    assert [each.name for each in found.times] == ["bad since", "detected at"]
    assert "raw" not in msgspec.json.encode(found).decode()


def test_the_api_has_the_same_shapes(number, tmp_path):
    """Answer 404 for an unknown incident."""
    app = create_app(Settings(data_dir=tmp_path))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        listed = client.get("/api/v1/incidents?all=true").json()
        one = client.get(f"/api/v1/incidents/{number}").json()
        missing = client.get("/api/v1/incidents/nothing")

    assert [row["state"] for row in listed["incidents"]] == ["open", "resolved"]
    assert one["incident"]["id"] == number
    assert (missing.status_code, missing.json()["title"]) == (404, "Unknown incident")


def test_the_command_lists_incidents_and_shows_one(embedded, number):
    """Print a table, datasets and events of one incident, and the documented JSON."""
    listed = lineward("incidents", catalog=embedded)
    one = lineward("incidents", number, catalog=embedded)
    text = answer("incidents", "--all", catalog=embedded)

    assert number in listed.stdout
    assert "opened" in one.stdout
    assert f"{NAMESPACE} core" in one.stdout
    assert text["total"] == 2
