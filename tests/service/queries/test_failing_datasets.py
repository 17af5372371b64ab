"""State `failing`: the last run of a dataset failed and no SLI calls it bad."""

from datetime import UTC, datetime, timedelta

import pytest
from litestar.testing import TestClient
from sqlalchemy import update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop

pytestmark = pytest.mark.postgres_nightly


def write_activity(catalog, name=shop.RAW, **text):  # noqa: ANN003
    """Change what happened last to a dataset; `raw/orders` is good."""
    table = tables.dataset_activity
    with write_transaction(catalog) as connection:
        mine = update(table).where(table.c.dataset_key == shop.dataset_key(name))
        connection.execute(mine.values(**text))


def client_of(catalog, **more):  # noqa: ANN003
    """Return the service over this catalog."""
    url = catalog.url.render_as_string(hide_password=False)
    return TestClient(create_app(Settings(catalog_url=url), **more), base_url="http://127.0.0.1")


@pytest.fixture
def failing(catalog):
    """Fail `raw/orders` at two, after a write at one, and `core/orders`, which is bad."""
    shop.fill(catalog)
    for name in (shop.RAW, shop.CORE):
        write_activity(catalog, name, last_failed_at=shop.at(2), last_failed_run_id=shop.RUN_ID)
    return catalog


def states(client, **filters):  # noqa: ANN003
    """Return the state of each dataset."""
    found = client.get("/api/v1/datasets", params=filters).json()
    assert found["total"] == len(found["datasets"])
    return {row["dataset"]: row["state"] for row in found["datasets"]}


@pytest.mark.postgres_always
def test_lists_counts_and_answers_show_failing(failing):
    """Agree in the API, `why` and the list; a filter for good leaves the dataset out."""
    asked = {"dataset": shop.RAW}
    with client_of(failing) as client:
        assert states(client)[shop.RAW] == "failing"
        assert states(client, state="failing") == {shop.RAW: "failing"}
        assert states(client, state="good") == {}
        assert states(client, state="learning") == {shop.MART: "learning"}
        row = client.get("/api/v1/datasets", params={"state": "failing"}).json()["datasets"][0]
        assert (row["reason"], row["since"]) == ("job_failed", "2026-11-20T02:00:00.000Z")

        why = client.get("/api/v1/why", params=asked).json()
        assert why["state"] == "failing"
        assert why["sentences"][0].startswith("The last run failed")
        tree = client.get("/api/v1/lineage", params={"dataset": shop.CORE, "depth": 1}).json()
        assert tree["upstream"][0]["state"] == "failing"
        assert client.get("/api/v1/dataset", params={"dataset": shop.CORE}).json()["state"] == "bad"
        counts = {"bad": 1, "failing": 1, "unknown": 1, "learning": 1, "good": 0}
        assert client.get("/api/v1/status").json()["datasets"] == counts


def test_pages_show_failing_in_red(failing):
    """Show a word and a sign; the overview links to the list of these."""
    with client_of(failing) as client:
        overview, listed, page = (
            client.get(path, params=asked).text
            for path, asked in (
                ("/", {}),
                ("/datasets", {"state": "failing"}),
                ("/dataset", {"dataset_namespace": shop.NAMESPACE, "dataset": shop.RAW}),
            )
        )

    shown = '<span class="state bad"><span aria-hidden="true">✕</span> failing</span>'
    assert "/datasets?state=failing" in overview
    assert all(shown in text for text in (overview, listed, page))


@pytest.mark.parametrize("text", [{"last_written_at": shop.at(3)}, {"last_failed_at": None}])
def test_a_later_write_ends_failing(failing, text):
    """Show it as good again after a write, or when the run was started again under its id."""
    write_activity(failing, **text)
    with client_of(failing) as client:
        assert states(client) == {
            shop.CORE: "bad",
            shop.REF: "unknown",
            shop.MART: "learning",
            shop.RAW: "good",
        }


def test_a_stale_evaluation_shows_failing_as_unknown(catalog):
    """Expect that a later write may wait in the pipeline."""
    then = datetime.now(UTC)
    shop.fill(catalog, evaluated_at=then)
    write_activity(catalog, last_failed_at=shop.at(2))
    with client_of(catalog, clock=lambda: then + timedelta(minutes=5)) as client:
        assert states(client)[shop.RAW] == "unknown"
        assert states(client, state="failing") == {}
