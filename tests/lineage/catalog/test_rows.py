"""Rows of a reader: columns by name, alike on both engines."""

import msgspec
import pytest

from lineage.catalog.reader import open_reader
from lineage.catalog.rows import convert_row, convert_rows, name_rows, pairs_of

_SQL = "SELECT 7 AS dataset_key, 'shop' AS namespace, 'orders' AS name, NULL AS owner"


class Named(msgspec.Struct, frozen=True):
    """Dataset by its name."""

    namespace: str
    name: str


def test_columns_are_attributes_on_both_engines(catalog):
    """Name columns as the query does, and compare rows as tuples."""
    with open_reader(catalog.url.render_as_string(hide_password=False)) as reader:
        (row,) = reader.rows(_SQL)

    assert (row.dataset_key, row.namespace, row.name, row.owner) == (7, "shop", "orders", None)
    assert row == (7, "shop", "orders", None)


def test_shapes_take_their_fields_by_name():
    """Ignore the order of columns, and columns that the shape has no field for."""
    rows = name_rows(["name", "owner", "namespace"], [("orders", "team", "shop")])

    assert convert_rows(Named, rows) == [convert_row(Named, rows[0])] == [Named("shop", "orders")]


def test_a_column_that_the_query_does_not_name_is_no_attribute():
    """Keep the first of two columns of one name, and fail on a name that no column has."""
    (row,) = name_rows(["count(*)", "name", "name"], [(3, "orders", "raw")])

    assert row.name == "orders"
    with pytest.raises(AttributeError):
        _ = row.tier


def test_rows_of_two_columns_are_a_mapping():
    """Map the first column to the second."""
    assert pairs_of(name_rows(["key", "tier"], [(1, "critical"), (2, "standard")])) == {
        1: "critical",
        2: "standard",
    }
