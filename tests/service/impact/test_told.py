"""The list of what a fault affects, as people ask for it."""

from collections.abc import Iterator

import pytest
from litestar.testing import TestClient

from service.app import create_app
from service.settings import Settings
from tests.service import shop
from tests.service.commandline import answer, lineward
from tests.service.impact.estate import Estate


@pytest.fixture
def client(estate: Estate) -> Iterator[TestClient]:
    """The API over the estate."""
    url = estate.catalog.url.render_as_string(hide_password=False)
    with TestClient(create_app(Settings(catalog_url=url)), base_url="http://127.0.0.1") as client:
        yield client


def test_the_list_is_told_by_command_and_api(estate, client):
    """One answer, two ways to ask: everything downstream, and how long the list took."""
    estate.evaluate()

    asked = client.get("/api/v1/impact", params={"dataset": "raw/orders"}).json()
    told = answer("impact", "raw/orders", catalog=estate.catalog)

    assert asked == told
    rows = [(row["dataset"], row["tier"], row["owner"], row["depth"]) for row in told["affected"]]
    assert rows == [(shop.CORE, "critical", "sales", 1), (shop.MART, "important", None, 1)]
    assert told["analysis_seconds"] is None
    core = client.get("/api/v1/impact", params={"dataset": "core/orders"}).json()
    assert core["analysis_seconds"] == 325.0


def test_the_command_shows_a_table(estate):
    """Whom to tell, in a line each."""
    estate.evaluate()

    shown = lineward("impact", "core/orders", catalog=estate.catalog).stdout

    assert "1 dataset is made of it" in shown
    assert "5 min 25 s" in shown
    assert shop.MART in shown
