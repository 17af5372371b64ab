"""Access audit, as the API, the command line and the page list it."""

import pytest

from service.queries import audit
from tests.service.commandline import answer, lineward

pytestmark = pytest.mark.postgres_nightly

_PATH = "/api/v1/access-audit"


@pytest.fixture
def asked(estate):
    """Ask as the boss for a dataset and for impact; deny the shop and a stranger."""
    estate.get("/api/v1/dataset?dataset=core/orders")
    estate.get("/api/v1/audit", "shop")
    estate.get("/api/v1/impact?dataset=core/orders", "nobody-0123456789abcdef")
    return estate


def _rows(estate, query=""):
    return estate.get(f"{_PATH}{query}").json()["rows"]


def test_an_access_is_listed_with_what_decided_it(asked):
    """List the newest first; the request itself is listed by the next one."""
    stranger, shop, boss = _rows(asked)

    assert boss.pop("at").startswith("2026-11-21T12:00:00")
    assert len(boss.pop("fingerprint")) > 0
    assert len(boss.pop("version")) > 0
    assert len(boss.pop("request_id")) > 0
    assert boss == {
        "id": 1,
        "who": "boss",
        "action": "dataset",
        "subject": "dataset=core/orders",
        "namespaces": ["hive://shop", "s3://shop"],
        "decision": "allow",
        "reason": "",
        "status": 200,
    }
    assert (shop["who"], shop["decision"], shop["reason"], shop["status"]) == (
        "shop",
        "deny",
        "role",
        403,
    )
    assert (stranger["who"], stranger["reason"]) == ("", "unknown_token")


def test_accesses_are_filtered_by_token_action_and_decision(asked):
    """Reject an unknown decision."""
    assert [row["id"] for row in _rows(asked, "?decision=deny")] == [3, 2]
    assert [row["id"] for row in _rows(asked, "?who=shop")] == [2]
    assert [row["id"] for row in _rows(asked, "?action=dataset")] == [1]
    assert asked.get(f"{_PATH}?decision=maybe").status_code == 400


def test_pages_lead_to_all_accesses(asked):
    """Lead from page to page of one row each; later accesses are newer than all of them."""
    found, cursor = [], ""
    for _ in range(3):
        page = asked.get(f"{_PATH}?limit=1{cursor}").json()
        found += [row["id"] for row in page["rows"]]
        cursor = f"&cursor={page['next_cursor']}"

    assert (found, page["next_cursor"]) == ([3, 2, 1], None)


def test_a_search_that_finds_nothing_in_many_rows_says_how_far_it_looked(asked, monkeypatch):
    """Find a rare name by going on."""
    monkeypatch.setattr(audit, "_LOOKED_AT", 2)

    first = asked.get(f"{_PATH}?action=dataset").json()
    second = asked.get(f"{_PATH}?action=dataset&cursor={first['next_cursor']}").json()

    assert (first["rows"], first["partial_reason"]) == ([], "of 2 accesses; there are older ones")
    assert [row["id"] for row in second["rows"]] == [1]


@pytest.mark.parametrize("path", [_PATH, "/access-audit"])
def test_only_an_admin_gets_the_audit(estate, path):
    """Show the list to admins only: it names what others asked for."""
    codes = [estate.get(path, who).status_code for who in ("boss", "clerk", "shop")]

    assert codes == [200, 403, 403]


def test_the_command_and_the_page_show_what_the_api_answers(asked):
    """Compare JSON, table and page."""
    page = asked.get("/access-audit?decision=deny").text
    found = answer("access-audit", "--who", "shop", catalog=asked.catalog)

    assert [row["id"] for row in found["rows"]] == [2]
    assert "deny: role" in lineward("access-audit", catalog=asked.catalog).stdout
    assert "unknown token" in page
    assert "core/orders" in page
