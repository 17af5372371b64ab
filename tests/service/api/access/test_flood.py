"""Floods of requests without a token: their rows are bounded, and nobody else waits for them."""

import pytest
from sqlalchemy import select

from lineage.catalog import tables
from service.api.access import access_auditor, audit_log
from service.api.access.access_auditor import DENIED_METRIC
from service.api.access.budget import WINDOW_SECONDS, BudgetBounds, RequestBudget
from tests.service.api.access.estate import TOKENS

pytestmark = pytest.mark.postgres_nightly

_QUERY = "/api/v1/lineage?dataset=core/orders"
_ROWS = "SELECT action, subject, reason, status FROM access_audit WHERE decision = 'deny'"


class Clock:
    """Monotonic clock that stands still until the test moves it."""

    now = 0.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.now


@pytest.fixture
def guarded(estate, monkeypatch):
    """Return an API with a budget of two rows for an address in a window, and five answers."""
    monkeypatch.setattr(
        "service.api.access.guard.RequestBudget",
        lambda *_: RequestBudget(Clock(), BudgetBounds(2, 3, 5)),
    )
    estate.restart()
    return estate


@pytest.mark.postgres_always
def test_rejections_beyond_the_budget_are_one_row_a_second_and_counted(guarded):
    """Write a row for each of the first, group the others by second and reason, then answer 429."""
    statuses = [guarded.get(_QUERY, None).status_code for _ in range(4)]
    statuses += [guarded.get(_QUERY, f"guess-{n}-0123456789").status_code for n in range(4)]
    guarded.judge()

    assert statuses == [401] * 5 + [429] * 3
    assert sorted(guarded.rows(_ROWS)) == [
        ("grouped", "2 more requests", "no_token", 401),
        ("grouped", "4 more requests", "unknown_token", 401),
        *[("lineage", "dataset=core/orders", "no_token", 401)] * 2,
    ]
    assert guarded.counts(DENIED_METRIC) == {"no_token": 4.0, "unknown_token": 4.0}
    guarded.judge()
    assert guarded.counts(DENIED_METRIC) == {"no_token": 4.0, "unknown_token": 4.0}


@pytest.mark.postgres_always
def test_a_failed_count_is_repeated_without_a_second_row(guarded, monkeypatch):
    """Write the rows of grouped rejections and their counts together, or neither."""
    for _ in range(5):
        guarded.get(_QUERY, None)
    with monkeypatch.context() as broken:
        broken.setattr(audit_log, "add_batch", _fail)
        with pytest.raises(ZeroDivisionError):
            guarded.judge()
    guarded.judge()

    grouped = [row for row in guarded.rows(_ROWS) if row[0] == "grouped"]
    assert grouped == [("grouped", "3 more requests", "no_token", 401)]
    assert guarded.counts(DENIED_METRIC) == {"no_token": 5.0}


def _fail(_connection, _batch):
    raise ZeroDivisionError


def test_a_valid_token_is_answered_during_a_flood(guarded):
    """Answer it although all clients behind one proxy share an address."""
    for _ in range(20):
        guarded.get(_QUERY, None)

    assert guarded.get(_QUERY, "boss").status_code == 200
    assert guarded.get("/api/v1/status", "clerk").status_code == 403


def test_signing_in_is_bounded_by_address(guarded):
    """Answer 429 beyond the bound, without reading the form."""
    form = {"token": TOKENS["boss"], "next": "/"}
    own = {"Sec-Fetch-Site": "same-origin"}
    statuses = [
        guarded.client.post("/login", data=form, headers=own, follow_redirects=False).status_code
        for _ in range(7)
    ]

    assert statuses == [303] * 5 + [429] * 2


def test_a_window_ends_and_addresses_are_bounded():
    """Let an address ask again, and write no more rows for many addresses than for one."""
    clock = Clock()
    budget = RequestBudget(clock, BudgetBounds(rows=1, all_rows=3, answers=2))
    found = [budget.spend("a") for _ in range(3)] + [budget.spend(one) for one in "bcd"]
    clock.now = WINDOW_SECONDS

    assert found == ["own_row", "grouped", "too_many", "grouped", "grouped", "grouped"]
    assert budget.spend("a") == "own_row"


def test_a_rejection_without_an_address_counts_once():
    """Give a client without an address as many rows as any other."""
    budget = RequestBudget(Clock(), BudgetBounds(rows=2, all_rows=3, answers=9))

    assert [budget.spend(one) for one in ("", "", "a", "b")] == ["own_row"] * 3 + ["grouped"]


@pytest.mark.postgres_always
def test_rows_of_rejections_are_bounded_as_they_come(estate, monkeypatch):
    """Delete rows as they come, and not only once a day."""
    monkeypatch.setattr(access_auditor, "_MOST_DENIED", 5)
    monkeypatch.setattr(access_auditor, "_LOOK_AFTER", 10)
    estate.judge()  # the daily look is over
    for _ in range(3):
        for _ in range(10):
            estate.get(_QUERY, None)
        estate.judge()

    with estate.catalog.connect() as connection:
        rows = connection.execute(select(tables.access_audit.c.id)).all()
    assert len(rows) == 5


@pytest.mark.postgres_always
def test_two_services_count_an_access_once(estate, monkeypatch):
    """Add nothing twice if both read the same rows before either writes."""
    estate.get(_QUERY)
    other = estate.guard.judge
    estate.restart()
    read, inside = access_auditor._rows_after, []  # noqa: SLF001 - what both have read

    def read_by_both(connection, after):
        rows = read(connection, after)
        if not inside:
            inside.append(other)
            other(estate.catalog)
        return rows

    monkeypatch.setattr(access_auditor, "_rows_after", read_by_both)
    estate.judge()

    assert (len(inside), estate.m10) == (1, (1.0, 1.0, 0.0))


def test_versions_that_are_known_are_not_read_again(estate):
    """Query once a second for new versions only."""
    estate.get(_QUERY)
    estate.judge()
    with estate.catalog.connect() as connection:
        known = access_auditor.stored_versions(connection)
        again = access_auditor.stored_versions(connection, known)

    assert len(known) == 1
    assert [one is other for one, other in zip(again, known, strict=True)] == [True]
