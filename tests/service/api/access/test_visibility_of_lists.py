"""Lists that are cut after hidden entries were removed, and report how many are missing."""

from typing import Any

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from service.queries import dataset as of_dataset
from service.queries import dataset_checks, runs
from tests.service import shop
from tests.service.api.access.estate import HIDDEN, PAYROLL
from tests.service.explorer.estate import INCIDENT, incident_row, member_row, message_row

pytestmark = pytest.mark.postgres_nightly

UNSEEN = "parts are hidden from this token"


def test_hidden_datasets_do_not_displace_visible_ones_in_a_run(estate, monkeypatch):
    """Count hidden datasets that come first in the order, and show the run."""
    monkeypatch.setattr(runs, "_MOST_IO", 1)
    core = shop.dataset_key(shop.CORE)
    _add(estate, tables.run, [shop.run_row() | {"run_key": 9, "run_id": "big", "root_run_id": "b"}])
    secret = [(key(HIDDEN, name), name) for name in ("a", "b")]
    _add(estate, tables.dataset, [shop.dataset_row(name, HIDDEN) for _, name in secret])
    reads = [shop.io_row(9, one, "read") for one, _ in secret]
    _add(estate, tables.run_io, [*reads, shop.io_row(9, core, "write")])

    (run,) = estate.get("/api/v1/runs/big", "shop").json()["runs"]

    assert [io["dataset"] for io in run["datasets"]] == [shop.CORE]
    assert run["hidden_datasets"] == 2


def test_hidden_spellings_do_not_displace_visible_names(estate, monkeypatch):
    """Report that there are more names than are listed."""
    monkeypatch.setattr(of_dataset, "_MOST_ALIASES", 2)
    path = "/api/v1/dataset?dataset=core/orders"
    _alias(estate, HIDDEN, "a")
    _alias(estate, shop.NAMESPACE, "z")

    whole, cut = estate.get(path, "boss").json(), estate.get(path, "shop").json()

    # `core.orders` is of hive://shop.
    assert [one["dataset"] for one in whole["aliases"]] == ["core.orders", "z"]
    assert whole["partial_reason"] == "the first 2 aliases"
    assert cut["aliases"] == whole["aliases"]
    assert (cut["partial"], cut["partial_reason"]) == (False, None)


def test_checks_of_hidden_edges_are_counted(estate, monkeypatch):
    """Count them instead of reporting that no edge was checked."""
    monkeypatch.setattr(dataset_checks, "_MOST", 1)
    _check(estate, key(HIDDEN, PAYROLL), "edge_missing")

    page = estate.get("/dataset?dataset=core/orders", "shop").text
    assert "1 more hidden from you." in page
    assert "No upstream edge has been checked yet" not in page

    _check(estate, shop.dataset_key(shop.RAW), "good")
    page = estate.get("/dataset?dataset=core/orders", "shop").text
    evidence = page[page.index('id="evidence"') : page.index('id="schemas"')]
    assert shop.RAW in evidence
    assert PAYROLL not in page


@pytest.mark.parametrize("part", ["nodes", "edges"])
def test_a_graph_reports_hidden_parts(estate, part):
    """Set the reason for a partial graph."""
    path = f"/api/v1/graph/{part}?dataset=core/orders"

    whole, cut = estate.get(path, "boss").json(), estate.get(path, "shop").json()

    assert (whole["partial"], cut["partial"], cut["partial_reason"]) == (False, True, UNSEEN)


def test_an_incident_with_a_hidden_root_hides_its_owner(estate):
    """Hide owner, recipients and channels, and count visible datasets only."""
    core, hidden = shop.dataset_key(shop.CORE), key(HIDDEN, PAYROLL)
    row = incident_row(INCIDENT, "open", "page", f"{PAYROLL} failed", 1)
    _add(estate, tables.incident, [row | {"owner": "payroll-team"}])
    _add(estate, tables.incident_member, [member_row(hidden, 0, None), member_row(core, 1, hidden)])
    _add(
        estate, tables.notification, [message_row(INCIDENT, 1, "slack:#payroll-oncall", "sent", 1)]
    )

    path = f"/api/v1/incidents/{INCIDENT}"
    whole, cut = estate.get(path, "boss").json(), estate.get(path, "shop").json()
    (listed,) = estate.get("/api/v1/incidents", "shop").json()["incidents"]
    pages = [estate.get(page, "shop").text for page in ("/", f"/incidents/{INCIDENT}")]

    assert (whole["incident"]["datasets"], whole["partial"]) == (2, False)
    assert (cut["incident"]["datasets"], cut["incident"]["owner"]) == (1, None)
    assert (listed["datasets"], listed["owner"]) == (1, None)
    assert cut["partial_reason"] == UNSEEN
    assert "payroll" not in "".join(pages)
    assert [page.count("not shown") for page in pages] == [1, 2]
    assert f"Incomplete: <bdi>{UNSEEN}</bdi>." in pages[1]


def _add(estate, table, rows: list[dict[str, Any]]) -> None:
    with write_transaction(estate.catalog) as connection:
        connection.execute(insert(table), rows)


def _alias(estate, namespace: str, name: str) -> None:
    of = {"alias_key": key(namespace, name), "dataset_key": shop.dataset_key(shop.CORE)}
    seen = {"rule": "fold", "first_seen_at": 0, "last_seen_at": 0}
    _add(estate, tables.dataset_alias, [{**of, **seen, "namespace": namespace, "name": name}])


def _check(estate, upstream: int, outcome: str) -> None:
    edge = {"upstream_key": upstream, "downstream_key": shop.dataset_key(shop.CORE), "job_key": 7}
    fields = {"job_version": 1, "outcome": outcome, "oracle": "event_log", "root_run_id": "r"}
    by = {"producer": "spark", "adapter_version": "1.53.0"}
    at = {"written_at": 1, "first_checked_at": 1, "checked_at": 1}
    _add(estate, tables.edge_check, [{**edge, **fields, **by, **at}])
