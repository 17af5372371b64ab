"""Events that the pipeline set aside, as the API and the command line list them."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from service.queries.status import load_status
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.api.access.conftest import estate
from tests.service.api.access.estate import NOW
from tests.service.api_lists import add_set_aside, set_aside_row
from tests.service.commandline import answer, lineward

pytestmark = pytest.mark.postgres_nightly

__all__ = ["estate"]  # a fixture of the tests of access
_PATH = "/api/v1/set-aside-events"


def _requeue(engine, number):
    with write_transaction(engine) as connection:
        row = {"spool_seq": number, "requested_at": shop.at(2)}
        connection.execute(insert(tables.event_requeue), row)


def test_an_event_is_listed_with_its_details(estate):
    """Show the first line of its error, and null for values that its body lacks."""
    unknown = dict.fromkeys(("producer", "job_namespace", "job_name", "run_id"))
    with write_transaction(estate.catalog) as connection:
        rows = [set_aside_row(4, error="ValueError: odd\n  at line 7"), set_aside_row(5, **unknown)]
        connection.execute(insert(tables.event_set_aside), rows)

    page = estate.get(_PATH).json()

    newest, known = page.pop("events")
    assert page == {"total": 2, "partial": False, "partial_reason": None, "next_cursor": None}
    assert known == {
        "spool_seq": 4,
        "failed_at": "2026-11-20T01:00:00.000Z",
        "received_at": "2026-11-20T00:00:00.000Z",
        "origin": "http",
        "kind": "run",
        "bytes": 1_234,
        "error": "ValueError: odd",
        "producer": "https://example.com/spark",
        "job_namespace": "jobs",
        "job_name": "etl.4",
        "run_id": shop.RUN_ID,
        "requeued_at": None,
    }
    assert newest == known | unknown | {"spool_seq": 5}


def test_a_requeued_event_is_listed_on_request_only(estate):
    """Show the time of the request."""
    add_set_aside(estate.catalog, (1, 2))
    _requeue(estate.catalog, 1)

    waiting, every = (estate.get(f"{_PATH}{query}").json() for query in ("", "?all=true"))

    assert [row["spool_seq"] for row in waiting["events"]] == [2]
    assert [(row["spool_seq"], row["requeued_at"]) for row in every["events"]] == [
        (2, None),
        (1, "2026-11-20T02:00:00.000Z"),
    ]


@pytest.mark.parametrize("path", [_PATH, "/set-aside-events"])
def test_only_an_admin_who_may_see_everything_gets_the_list(estate, path):
    """Reject a limited token, as an event that did not land has no namespace."""
    estate.write_policy(
        "access: {tokens: ["
        "{name: boss, sha256: %(boss)s, roles: [admin]},"
        "{name: shop, sha256: %(shop)s, roles: [admin], namespaces: ['s3://shop', 'hive://shop']},"
        "{name: late, sha256: %(late)s, roles: [read, respond]}]}\n"
    )
    estate.now = NOW
    add_set_aside(estate.catalog, (1,))
    by_cookie = path == "/set-aside-events"

    codes = {}
    for who in ("boss", "shop", "late"):
        shown = estate.shown(who)
        cookie = {"Cookie": f"lineward_token={shown.removeprefix('Bearer ')}"}
        given = estate.get(path, None, **cookie) if by_cookie else estate.get(path, who)
        codes[who] = (given.status_code, "etl.1" in given.text)

    assert codes == {"boss": (200, True), "shop": (403, False), "late": (403, False)}


def test_the_command_prints_what_the_api_answers(estate):
    """Print JSON and a table."""
    add_set_aside(estate.catalog, (1, 2))

    assert answer("set-aside", catalog=estate.catalog) == estate.get(_PATH).json()
    assert "#2" in lineward("set-aside", catalog=estate.catalog).stdout


def test_the_status_counts_events_that_wait(estate, tmp_path):
    """Leave out a requeued event, and name the command that lists the others."""
    add_set_aside(estate.catalog, (1, 2))
    _requeue(estate.catalog, 1)
    url = estate.catalog.url.render_as_string(hide_password=False)

    found = load_status(Settings(data_dir=tmp_path, catalog_url=url), NOW)
    shown = lineward("status", "--data-dir", str(tmp_path), catalog=estate.catalog).stdout

    assert found.set_aside_events == 1
    assert "pipeline: 1 event set aside: `lineward set-aside` lists them" in shown
