"""Duration of a page beside the list of affected datasets."""

from collections.abc import Iterator

import pytest
from litestar.testing import TestClient

from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service.commandline import answer, lineward
from tests.service.incidents.impact.pager import CORE, FAILED, MART, Pager

pytestmark = pytest.mark.postgres_nightly


@pytest.fixture
def client(pager: Pager) -> Iterator[TestClient]:
    """Start the API over the estate."""
    url = pager.engine.url.render_as_string(hide_password=False)
    with TestClient(create_app(Settings(catalog_url=url)), base_url="http://127.0.0.1") as client:
        yield client


def test_command_and_api_show_the_list(pager, client):
    """Return the same downstream datasets and the same duration of the page."""
    pager.fail(until=FAILED + 120)

    asked = client.get("/api/v1/impact", params={"dataset": CORE}).json()
    text = answer("impact", CORE, catalog=pager.engine)

    assert asked == text
    rows = [(row["dataset"], row["tier"], row["owner"], row["depth"]) for row in text["affected"]]
    assert rows == [(MART, "important", "finance", 1)]
    assert text["incident_id"] == pager.one.incident_id
    assert (text["fault_at"], text["accepted_at"], text["analysis_seconds"]) == (
        "2026-11-21T12:10:00.000Z",
        "2026-11-21T12:11:15.000Z",
        75.0,
    )


def test_a_healthy_or_resolved_dataset_has_no_duration(pager, client):
    """Show none before the fault, for another dataset, and after the recovery."""
    answers = [client.get("/api/v1/impact", params={"dataset": CORE}).json()]
    pager.fail(until=FAILED + 120)
    answers += [client.get("/api/v1/impact", params={"dataset": MART}).json()]
    pager.recover()
    pager.until(FAILED + 240)
    answers += [client.get("/api/v1/impact", params={"dataset": CORE}).json()]

    timed = [(one["incident_id"], one["fault_at"], one["analysis_seconds"]) for one in answers]
    assert timed == [(None, None, None)] * 3


def test_the_command_shows_a_table(pager):
    """Print a line for each owner to notify."""
    pager.fail(until=FAILED + 120)

    shown = lineward("impact", CORE, catalog=pager.engine).stdout

    assert "1 downstream dataset" in shown
    assert "page accepted 1 min 15 s later" in " ".join(shown.split())
    assert MART in shown
