"""Graphs in Marquez's shape without hidden datasets."""

from urllib.parse import unquote

import pytest
from msgspec.structs import replace
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from service.queries.marquez_api import lineage
from service.queries.visibility import EVERYTHING
from tests.service import shop
from tests.service.api.access.estate import HIDDEN, PAYROLL
from tests.service.marquez_graphs import CORE

pytestmark = pytest.mark.postgres_nightly


@pytest.mark.postgres_always
def test_a_hidden_dataset_is_in_no_graph_and_reported_missing(estate):
    """Follow no path through it, and write the shown names to the audit log."""
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


def test_a_hidden_node_is_not_found(estate):
    """Answer as for an unknown name: a hidden dataset, and a job of hidden datasets only."""
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


def test_a_graph_that_ignores_the_token_is_found(estate, monkeypatch):
    """Run the mutant of the test above: walk all datasets."""
    walked = lineage.walk_lineage
    monkeypatch.setattr(
        lineage,
        "walk_lineage",
        lambda asked, *way: walked(replace(asked, visibility=EVERYTHING), *way),
    )

    assert HIDDEN in estate.get(f"/api/v1/lineage?nodeId={CORE}", "shop").text
    estate.judge()
    assert estate.m10 == (0, 1, 0)
