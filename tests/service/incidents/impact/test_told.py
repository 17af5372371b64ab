"""How long a fault's page took, beside the list of what it affects."""

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
    """The API over the estate."""
    url = pager.engine.url.render_as_string(hide_password=False)
    with TestClient(create_app(Settings(catalog_url=url)), base_url="http://127.0.0.1") as client:
        yield client


def test_the_list_is_told_by_command_and_api(pager, client):
    """One answer, two ways to ask: everything downstream, and how long the page took."""
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


def test_of_what_is_well_or_over_nothing_is_timed(pager, client):
    """Before the fault, of another dataset, and when it is good again."""
    answers = [client.get("/api/v1/impact", params={"dataset": CORE}).json()]
    pager.fail(until=FAILED + 120)
    answers += [client.get("/api/v1/impact", params={"dataset": MART}).json()]
    pager.recover()
    pager.until(FAILED + 240)
    answers += [client.get("/api/v1/impact", params={"dataset": CORE}).json()]

    timed = [(one["incident_id"], one["fault_at"], one["analysis_seconds"]) for one in answers]
    assert timed == [(None, None, None)] * 3


def test_the_command_shows_a_table(pager):
    """Whom to tell, in a line each."""
    pager.fail(until=FAILED + 120)

    shown = lineward("impact", CORE, catalog=pager.engine).stdout

    assert "1 downstream dataset" in shown
    assert "page accepted 1 min 15 s later" in " ".join(shown.split())
    assert MART in shown
