"""What of a page somebody sees who may not see all."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.keys import key
from service.access import gate
from service.access.sight import Sight
from tests.service import shop
from tests.service.access.estate import HIDDEN, PAYROLL
from tests.service.explorer import estate
from tests.service.explorer.asked import by_cookie

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
def test_no_page_names_what_may_not_be_seen(guarded, path):
    """A token of one namespace, in a browser's cookie."""
    told = guarded.get(path, None, **by_cookie("shop"))

    assert told.status_code in (200, 404)
    assert HIDDEN not in told.text
    assert "shop-secret" not in told.text
    assert PAYROLL not in told.text


def test_who_sees_some_namespaces_is_told_that_something_is_left_out(guarded):
    """History may name anything, and so may what differs."""
    page = guarded.get("/dataset?dataset=core/orders", None, **by_cookie("shop"))
    diff = guarded.get(f"/runs/{shop.RUN_ID}/diff/{shop.RUN_ID}", None, **by_cookie("shop"))

    assert "Not shown to a token of some namespaces." in page.text
    assert "1 more that you may not see" in page.text
    assert diff.status_code == 403


def test_an_incident_names_nothing_that_may_not_be_seen(guarded):
    """Of its datasets and what hangs on its root; its root, evidence and runs stay untold."""
    core, hidden = shop.dataset_key(shop.CORE), key(HIDDEN, PAYROLL)
    root = estate.incident_row(estate.INCIDENT, "open", "page", f"{PAYROLL} failed", 1)
    named = {"root_name": PAYROLL, "evidence": f"{HIDDEN} is to blame"}
    with writing(guarded.catalog) as connection:
        connection.execute(insert(tables.incident), root | named)
        for dataset, steps in ((hidden, 0), (core, 1)):
            member = estate.member_row(dataset, steps, hidden if steps else None)
            connection.execute(insert(tables.incident_member), member)
            hurt = {"incident_id": estate.INCIDENT, "dataset_key": dataset, "hops": steps}
            connection.execute(insert(tables.incident_impact), hurt)
    pages = [
        guarded.get(path, None, **by_cookie("shop")).text
        for path in ("/", "/incidents", f"/incidents/{estate.INCIDENT}")
    ]

    assert all("a fault of the kind failed" in page for page in pages)
    assert [
        word for word in (HIDDEN, PAYROLL, "4f1c0de", "Resolve") if word in "".join(pages)
    ] == []
    assert "core/orders" in pages[2]


def test_an_audit_row_holds_the_namespaces_that_a_page_named(guarded):
    """Read from its links; each access is judged, and was right."""
    guarded.get("/dataset?dataset=core/orders", None, **by_cookie("shop"))
    guarded.get("/datasets", "boss")
    guarded.judge()

    rows = guarded.rows("SELECT who, action, namespaces FROM access_audit ORDER BY id")
    assert rows == [
        ("shop", "dataset", '["hive://shop","s3://shop"]'),
        ("boss", "datasets", '["s3://shop","s3://shop-secret"]'),
    ]
    assert guarded.m10 == (2.0, 2.0, 0.0)


def test_a_page_that_shows_too_much_is_found(guarded, monkeypatch):
    """The mutant: sight is blind to nothing, and the judge sees it in the links."""
    monkeypatch.setattr(Sight, "sees", lambda *_: True)
    guarded.get("/dataset?dataset=core/orders", None, **by_cookie("shop"))
    guarded.judge()

    assert guarded.counts("lineage_access_unauthorized") == {"namespace": 1.0}


def test_what_somebody_searches_for_is_no_namespace_that_a_page_named(guarded):
    """No text can look like a link."""
    text = 'href="/dataset?dataset_namespace=s3://other'
    guarded.client.get("/datasets", params={"find": text}, headers=by_cookie("shop"))
    guarded.judge()

    assert guarded.rows("SELECT namespaces FROM access_audit") == [("[]",)]
    assert gate.namespaces_in(f'<a {text}">'.encode()) == ["s3://other"]


def test_the_first_page_shows_a_cut_token_its_own_counts(guarded):
    """Four datasets, not five: the hidden one is in no number."""
    own = guarded.get("/", None, **by_cookie("shop")).text
    every = guarded.get("/", "boss").text

    assert "<b>1</b>" in own
    assert ("2 datasets are bad" in every, "2 datasets are bad" in own) == (True, False)
