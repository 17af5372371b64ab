"""Column lineage of datasets that a token may not see."""

import pytest
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from service.queries import column_lineage
from tests.service import shop, shop_columns
from tests.service.api.access.estate import HIDDEN, PAYROLL

pytestmark = pytest.mark.postgres_nightly

_CORE = f"dataset={shop.CORE}&dataset_namespace={shop.NAMESPACE}"
_COLUMN = f"datasetField:{shop.NAMESPACE}:{shop.CORE}:amount"
_PATHS = (
    f"/api/v1/columns?{_CORE}",
    f"/api/v1/column-lineage?{_CORE}&column=amount",
    f"/api/v1/column-lineage?nodeId={_COLUMN}&withDownstream=true",
)
_HOW = [
    {"type": "DIRECT", "subtype": f"JOIN {PAYROLL}", "description": f"joined with {PAYROLL}"},
    {"type": f"from {PAYROLL}"},
]


@pytest.fixture
def columns(estate):
    """Fill the shop's columns, with hidden ones on both sides of `core/orders.amount`."""
    shop_columns.fill(estate.catalog)
    hidden, core = key(HIDDEN, PAYROLL), shop.dataset_key(shop.CORE)
    rows = [
        shop_columns.edge_row(hidden, "wage", core, "amount", _HOW),
        shop_columns.edge_row(core, "amount", hidden, "sum", None),
        shop_columns.edge_row(7, "unnamed", core, "amount", None),  # its dataset has no row
        shop_columns.edge(shop.REF, "rate", shop.CORE, "amount", _HOW),
    ]
    with write_transaction(estate.catalog) as connection:
        connection.execute(insert(tables.column_edge), rows)
    return estate


@pytest.mark.parametrize("path", _PATHS)
def test_hidden_columns_are_left_out_and_counted(columns, path):
    """Show no description, which may name anything; judge each access as right."""
    whole, cut = columns.get(path), columns.get(path, "shop")

    assert all(word in whole.text for word in (HIDDEN, "wage", PAYROLL))
    assert not [word for word in (HIDDEN, "wage", PAYROLL, "unnamed") if word in cut.text]
    assert shop.REF in cut.text
    assert "parts are hidden from this token" in cut.json()["partial_reason"]
    audited = columns.rows("SELECT who, namespaces FROM access_audit ORDER BY id")
    assert audited[1] == ("shop", f'["{shop.NAMESPACE}"]')
    columns.judge()
    assert columns.m10 == (2, 2, 0)


def test_hidden_columns_are_counted_beside_the_column(columns):
    """Count two hidden columns upstream (one of an unknown dataset) and one downstream."""
    lineage = columns.get(_PATHS[1], "shop").json()
    rows = columns.get(_PATHS[0], "shop").json()["columns"]

    assert (lineage["hidden_upstream"], lineage["hidden_downstream"]) == (2, 1)
    amount = next(row for row in rows if row["column"] == "amount")
    assert (amount["hidden_sources"], amount["hidden_uses"]) == (2, 1)


def test_a_column_of_a_hidden_dataset_is_unknown(columns):
    """Answer as if the dataset were not there."""
    node = f"/api/v1/column-lineage?nodeId=datasetField:{HIDDEN}:{PAYROLL}:wage"
    by_name = f"/api/v1/column-lineage?dataset={PAYROLL}&column=wage"

    assert [columns.get(path, "shop").status_code for path in (node, by_name)] == [404, 404]
    assert columns.get(node).status_code == 200


def test_a_walk_that_forgot_the_token_is_found(columns, monkeypatch):
    """Show every column as a mutant: the judge finds the namespace in the answer."""
    monkeypatch.setattr(column_lineage.ColumnWalk, "_is_seen", lambda *_: True)

    assert HIDDEN in columns.get(_PATHS[2], "shop").text
    columns.judge()
    assert columns.counts("lineage_access_unauthorized") == {"namespace": 1.0}
