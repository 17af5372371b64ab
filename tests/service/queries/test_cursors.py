"""Lists with cursors, complete and without repeats whatever is added between pages."""

from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any

import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.api.app import create_app
from service.queries import cursors, datasets, incidents, runs
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.api.access.estate import HIDDEN
from tests.service.api.access.estate import Estate as Guarded
from tests.service.api_lists import LISTS, Listed, add_datasets, add_incident, add_runs, audit_row


@pytest.fixture
def client(catalog: Engine) -> Iterator[TestClient]:
    """Start the API over the shop, with seven rows of each list."""
    with _filled_client(catalog) as client:
        yield client


@pytest.fixture
def embedded_client(embedded: Engine) -> Iterator[TestClient]:
    """Start the same API on SQLite, for tests that are alike on both."""
    with _filled_client(embedded) as client:
        yield client


def _filled_client(catalog: Engine) -> TestClient:
    shop.fill(catalog)
    for one in LISTS:
        one.add(catalog, range(10, 17))
    settings = Settings(catalog_url=catalog.url.render_as_string(hide_password=False))
    return TestClient(create_app(settings), base_url="http://127.0.0.1")


def _ask(client: TestClient, one: Listed, **params: str | int) -> dict[str, Any]:
    """Return the answer of a list, for a dataset where one is needed."""
    return client.get(one.path, params={"dataset": shop.CORE, **params}).json()


def _pages(
    ask: Callable[[dict[str, Any]], dict[str, Any]], rows: str, between: Callable[[], None]
) -> list[list[dict[str, Any]]]:
    """Return all pages of two, and add rows after each."""
    found, cursor = [], None
    while True:
        page = ask({"limit": 2} | ({"cursor": cursor} if cursor else {}))
        found.append(page[rows])
        cursor = page["next_cursor"]
        if cursor is None:
            return found
        assert page["partial"], "what has a next page is cut"
        assert page["partial_reason"]
        between()


@pytest.mark.parametrize("one", LISTS, ids=lambda one: one.rows)
def test_pages_together_are_the_list_in_its_order(client, one):
    """Fill each page but the last, which has no cursor."""
    whole = _ask(client, one, limit=1_000)
    pages = _pages(lambda asked: _ask(client, one, **asked), one.rows, lambda: None)

    assert [row for page in pages for row in page] == whole[one.rows]
    assert len(whole[one.rows]) >= 7
    assert {len(page) for page in pages[:-1]} == {2}
    assert (whole["partial"], whole["next_cursor"]) == (False, None)


@pytest.mark.parametrize("one", LISTS, ids=lambda one: one.rows)
def test_rows_added_between_pages_move_nothing(client, catalog, one):
    """Return each earlier row once, with new rows before, behind and between."""
    stood = [one.name(row) for row in _ask(client, one)[one.rows]]
    waiting = chain.from_iterable(zip(range(17, 60), range(9, -1, -1), strict=False))

    pages = _pages(
        lambda asked: _ask(client, one, **asked),
        one.rows,
        lambda: one.add(catalog, list(islice(waiting, 2))),
    )

    found = [one.name(row) for page in pages for row in page]
    assert len(found) == len(set(found))
    assert [name for name in found if name in set(stood)] == stood


@pytest.mark.parametrize("one", LISTS, ids=lambda one: one.rows)
def test_an_invalid_cursor_is_rejected(embedded_client, one):
    """Answer 400 with the parameter and the expected value, also for another list's cursor."""
    for cursor in ("nonsense", "", "\N{SNOWMAN}", "e30", cursors.cursor_of("another", (1, 2))):
        rejected = _ask(embedded_client, one, cursor=cursor)

        assert rejected["status"] == 400
        assert rejected["detail"].startswith("cursor: ")
    nonsense = _ask(embedded_client, one, cursor="nonsense")["detail"]
    assert nonsense == ("cursor: expected the unchanged next_cursor of an answer, got 'nonsense'")


@pytest.mark.parametrize(
    ("question", "path", "key"),
    [
        (("runs", shop.dataset_key(shop.CORE)), "/api/v1/runs", (2**70, 1)),
        (("runs", shop.dataset_key(shop.CORE)), "/api/v1/runs", (-(2**63), 1)),  # to be negated
        (("audit", {"who": None, "action": None}), "/api/v1/audit", (-(2**70),)),
        (("incidents", False, None), "/api/v1/incidents", (0, 0, 0, "\0")),
    ],
)
def test_a_forged_cursor_is_rejected_or_answered(embedded_client, question, path, key):
    """Answer 400 to a key that no catalog stores, and answer a valid key."""
    sound = tuple(0 if isinstance(part, int) else "" for part in key)
    codes = []
    for written in (key, sound):
        query = {"dataset": "core/orders", "cursor": cursors.cursor_of(question, written)}
        codes.append(embedded_client.get(path, params=query).status_code)

    assert codes == [400, 200]


def test_a_cursor_belongs_to_its_query(embedded_client):
    """Answer 400 with the reason if another filter is used."""
    first = embedded_client.get("/api/v1/datasets?limit=2&tier=critical").json()

    other = embedded_client.get("/api/v1/datasets", params={"cursor": first["next_cursor"]})

    assert other.status_code == 400
    assert "keep all other parameters unchanged" in other.json()["detail"]


@pytest.mark.parametrize("one", LISTS[:2], ids=lambda one: one.rows)
def test_neither_page_nor_cursor_shows_hidden_rows(catalog, tmp_path, one):
    """Fill pages although as many hidden rows are between the visible ones."""
    estate = Guarded(catalog, tmp_path)
    one.add(catalog, range(10, 17))
    one.add(catalog, range(20, 27), HIDDEN)
    texts = []

    def ask(asked: dict[str, Any]) -> dict[str, Any]:
        shown = {"Authorization": estate.shown("shop")}
        answer = estate.client.get(one.path, params=asked, headers=shown)
        cursor = answer.json()["next_cursor"] or ""
        texts.append(answer.text + urlsafe_b64decode(cursor + "===").decode())
        return answer.json()

    pages = _pages(ask, one.rows, lambda: None)

    whole = ask({"limit": 1_000})
    assert [row for page in pages for row in page] == whole[one.rows]
    assert {len(page) for page in pages[:-1]} == {2}
    assert whole["total"] == sum(map(len, pages)) >= 7
    hidden = {one.named(number) for number in range(20, 27)} | {HIDDEN}
    assert not [text for text in texts for name in hidden if name in text]


@pytest.mark.parametrize(
    ("module", "one"), [(datasets, LISTS[0]), (incidents, LISTS[1]), (runs, LISTS[2])]
)
def test_without_the_key_each_page_is_the_first(embedded_client, monkeypatch, module, one):
    """Run the mutant of the tests above: ignore the cursor."""
    monkeypatch.setattr(module, "_BEHIND", "")
    first = _ask(embedded_client, one, limit=2)
    second = _ask(embedded_client, one, limit=2, cursor=first["next_cursor"])

    assert second[one.rows] == first[one.rows]


def test_visible_incidents_are_counted(catalog, tmp_path):
    """Count those of all pages."""
    estate = Guarded(catalog, tmp_path)
    add_incident(catalog, range(3))
    add_incident(catalog, range(3, 5), HIDDEN)

    seen = estate.get("/api/v1/incidents?limit=1", "shop").json()

    assert (len(seen["incidents"]), seen["total"], seen["partial"]) == (1, 3, True)
    assert seen["partial_reason"] == "1 of 3 shown"
    assert estate.get("/api/v1/incidents", "boss").json()["total"] == 5


def test_runs_of_one_timestamp_are_all_listed(client, catalog):
    """Order them by key, as the time alone would lose some at the end of a page."""
    add_runs(catalog, range(100, 105), hour=9)

    pages = _pages(lambda asked: _ask(client, LISTS[2], **asked), "runs", lambda: None)

    found = [row["run_id"] for page in pages for row in page]
    assert {f"run-{number}" for number in range(100, 105)} <= set(found)


def test_datasets_of_one_name_are_all_listed(client, catalog):
    """Order them by namespace, as the name alone would lose some at the end of a page."""
    theirs = [f"s3://lake-{letter}" for letter in "abcde"]
    for namespace in theirs:
        add_datasets(catalog, [100], namespace)

    pages = _pages(lambda asked: _ask(client, LISTS[0], **asked), "datasets", lambda: None)

    found = [row for page in pages for row in page if row["dataset"] == "more/100"]
    assert [row["dataset_namespace"] for row in found] == theirs


def test_the_audit_log_is_filtered_on_every_page(client, catalog):
    """Apply filter and cursor together."""
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.audit), [audit_row(at, "eve") for at in range(3)])
    path = "/api/v1/audit?who=eve"

    first = client.get(f"{path}&limit=2").json()
    last = client.get(f"{path}&limit=2&cursor={first['next_cursor']}").json()

    assert [row["who"] for row in first["rows"] + last["rows"]] == ["eve"] * 3
