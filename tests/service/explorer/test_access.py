"""Pages for tokens that may not see every namespace."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from service.api.access import gate
from service.queries.visibility import Visibility
from tests.service import shop
from tests.service.api.access.estate import HIDDEN, PAYROLL
from tests.service.explorer import estate
from tests.service.explorer.browser_headers import by_cookie

_PATHS = (
    "/",
    "/datasets",
    "/datasets?find=salar",
    "/dataset?dataset=core/orders",
    "/dataset?dataset=raw/orders",
    "/dataset?dataset=zzz",
    "/incidents?all=true",
    f"/runs/{shop.RUN_ID}",
)


@pytest.mark.parametrize("path", _PATHS)
def test_pages_never_name_hidden_datasets(guarded, path):
    """Sign in with a token of one namespace."""
    answer = guarded.get(path, None, **by_cookie("shop"))

    assert answer.status_code in (200, 404)
    assert HIDDEN not in answer.text
    assert "shop-secret" not in answer.text
    assert PAYROLL not in answer.text


def test_limited_token_sees_that_content_is_hidden(guarded):
    """Hide history and differences, which may name any dataset."""
    page = guarded.get("/dataset?dataset=core/orders", None, **by_cookie("shop"))
    diff = guarded.get(f"/runs/{shop.RUN_ID}/diff/{shop.RUN_ID}", None, **by_cookie("shop"))

    assert "Not shown: this token may not see every namespace." in page.text
    assert "1 more hidden from you" in page.text
    assert diff.status_code == 403


def test_incident_page_never_names_hidden_datasets(guarded):
    """Hide datasets, root, evidence and runs."""
    core, hidden = shop.dataset_key(shop.CORE), key(HIDDEN, PAYROLL)
    root = estate.incident_row(estate.INCIDENT, "open", "page", f"{PAYROLL} failed", 1)
    named = {"root_name": PAYROLL, "evidence": f"{HIDDEN} is to blame"}
    with write_transaction(guarded.catalog) as connection:
        connection.execute(insert(tables.incident), root | named)
        for dataset, steps in ((hidden, 0), (core, 1)):
            member = estate.member_row(dataset, steps, hidden if steps else None)
            connection.execute(insert(tables.incident_member), member)
            impact = {"incident_id": estate.INCIDENT, "dataset_key": dataset, "hops": steps}
            connection.execute(insert(tables.incident_impact), impact)
    pages = [
        guarded.get(path, None, **by_cookie("shop")).text
        for path in ("/", "/incidents", f"/incidents/{estate.INCIDENT}")
    ]

    assert all("a fault of the kind failed" in page for page in pages)
    assert [
        word for word in (HIDDEN, PAYROLL, "4f1c0de", "Resolve") if word in "".join(pages)
    ] == []
    assert "core/orders" in pages[2]


def test_audit_row_lists_the_namespaces_of_a_page(guarded):
    """Read the namespaces from the links, and audit each access."""
    guarded.get("/dataset?dataset=core/orders", None, **by_cookie("shop"))
    guarded.get("/datasets", "boss")
    guarded.judge()

    rows = guarded.rows("SELECT who, action, namespaces FROM access_audit ORDER BY id")
    assert rows == [
        ("shop", "dataset", '["hive://shop","s3://shop"]'),
        ("boss", "datasets", '["s3://shop","s3://shop-secret"]'),
    ]
    assert guarded.m10 == (2.0, 2.0, 0.0)


def test_auditor_finds_a_page_that_shows_hidden_datasets(guarded, monkeypatch):
    """Run a mutant that shows everything: the auditor sees it in the links."""
    monkeypatch.setattr(Visibility, "sees", lambda *_: True)
    guarded.get("/dataset?dataset=core/orders", None, **by_cookie("shop"))
    guarded.judge()

    assert guarded.counts("lineage_access_unauthorized") == {"namespace": 1.0}


def test_search_text_is_not_audited_as_a_namespace(guarded):
    """Read namespaces from links only, and not from text."""
    text = 'href="/dataset?dataset_namespace=s3://other'
    guarded.client.get("/datasets", params={"find": text}, headers=by_cookie("shop"))
    guarded.judge()

    assert guarded.rows("SELECT namespaces FROM access_audit") == [("[]",)]
    assert gate.namespaces_in(f'<a {text}">'.encode()) == ["s3://other"]


def test_overview_counts_visible_datasets_only(guarded):
    """Count four datasets, not the hidden fifth."""
    own = guarded.get("/", None, **by_cookie("shop")).text
    every = guarded.get("/", "boss").text

    assert "<b>1</b>" in own
    assert ("2 datasets bad" in every, "2 datasets bad" in own) == (True, False)
