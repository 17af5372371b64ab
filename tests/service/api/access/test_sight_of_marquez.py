"""What a token may not see is in no graph in Marquez's shape."""

from urllib.parse import unquote

import pytest
from msgspec.structs import replace
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from service.api.access.visibility import EVERYTHING
from service.queries import marquez_graph
from tests.service import shop
from tests.service.api.access.estate import HIDDEN, PAYROLL
from tests.service.marquez_graphs import CORE

pytestmark = pytest.mark.postgres_nightly


@pytest.mark.postgres_always
def test_what_may_not_be_seen_is_in_no_graph_and_is_said_to_be_missing(estate):
    """Nor is a way through it followed; the audit log has what the answer named."""
    path = f"/api/v1/lineage?nodeId={CORE}"

    whole, cut = estate.get(path, "boss"), estate.get(path, "shop")

    assert f"dataset:{HIDDEN}:{PAYROLL}" in whole.text
    assert HIDDEN not in cut.text
    assert PAYROLL not in cut.text
    assert cut.json()["partial_reason"] == "parts are hidden from this token"
    assert estate.rows("SELECT who, action, subject, namespaces FROM access_audit ORDER BY id") == [
        ("boss", "lineage", f"nodeId={CORE}", f'["{shop.NAMESPACE}","{HIDDEN}"]'),
        ("shop", "lineage", f"nodeId={CORE}", f'["{shop.NAMESPACE}"]'),
    ]
    estate.judge()
    assert estate.m10 == (2, 2, 0)


def test_a_hidden_node_is_as_if_it_were_not_there(estate):
    """A dataset of a hidden namespace; a job that touches nothing that may be seen."""
    with write_transaction(estate.catalog) as connection:
        run = {"root_job_name": "wages", "run_key": 9, "root_run_id": "r9"}
        connection.execute(insert(tables.run), [shop.run_row() | run])
        connection.execute(insert(tables.run_io), [shop.io_row(9, key(HIDDEN, PAYROLL), "write")])

    for kind, hidden, absent in (
        ("dataset", f"{HIDDEN}:{PAYROLL}", f"{HIDDEN}:x"),
        ("job", "jobs:wages", "jobs:x"),
        ("job", "jobs:w%2561ges", "jobs:%2578"),  # encoded once more than need be
    ):
        rejected = estate.get(f"/api/v1/lineage?nodeId={kind}:{hidden}", "shop")
        missing = estate.get(f"/api/v1/lineage?nodeId={kind}:{absent}", "shop")
        assert rejected.status_code == missing.status_code == 404
        as_asked = rejected.text.replace(unquote(hidden), "")
        assert as_asked == missing.text.replace(unquote(absent), "")
        assert estate.get(f"/api/v1/lineage?nodeId={kind}:{hidden}", "boss").status_code == 200


def test_a_graph_that_forgot_whom_it_is_for_would_be_seen(estate, monkeypatch):
    """The mutant of the test above: a walk of everything."""
    walked = marquez_graph.walk_lineage
    monkeypatch.setattr(
        marquez_graph,
        "walk_lineage",
        lambda asked, *way: walked(replace(asked, visibility=EVERYTHING), *way),
    )

    assert HIDDEN in estate.get(f"/api/v1/lineage?nodeId={CORE}", "shop").text
    estate.judge()
    assert estate.m10 == (0, 1, 0)
