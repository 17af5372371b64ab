"""Columns of the shop: from raw/orders to core/orders, and from both to mart/daily."""

import json
from typing import Any

from sqlalchemy import Engine, insert

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.service import shop

IDENTITY = [{"type": "DIRECT", "subtype": "IDENTITY"}]
SUM = [{"type": "DIRECT", "subtype": "AGGREGATION", "description": "sum(amount)", "masking": True}]
SCHEMAS = {
    shop.RAW: {"id": "bigint", "amount": "double"},
    shop.CORE: {"id": "bigint", "amount": "decimal(9,2)", "note": "string"},
}


def fill(engine: Engine) -> None:
    """Insert schemas and column edges; `mart/daily` has no schema."""
    rows = [
        edge(shop.RAW, "id", shop.CORE, "id", IDENTITY),
        edge(shop.RAW, "amount", shop.CORE, "amount", None),
        edge(shop.CORE, "amount", shop.MART, "total", SUM),
        edge(shop.RAW, "amount", shop.MART, "total", None),
        edge(shop.CORE, "id", shop.CORE, "id", None),  # of a MERGE into itself
    ]
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.schema_version), [schema(name) for name in SCHEMAS])
        connection.execute(insert(tables.column_edge), rows)


def schema(name: str) -> dict[str, Any]:
    """Return a row of `schema_version`."""
    fields = [{"name": column, "type": kind} for column, kind in SCHEMAS[name].items()]
    seen = {"first_seen_at": shop.at(0), "last_seen_at": shop.at(1)}
    dataset = {"dataset_key": shop.dataset_key(name), "schema_key": 1}
    return {**dataset, "fields": json.dumps(fields), **seen}


def edge(
    upstream: str, source: str, downstream: str, column: str, how: list[dict[str, Any]] | None
) -> dict[str, Any]:
    """Return a row of `column_edge` between two datasets of the shop."""
    return edge_row(shop.dataset_key(upstream), source, shop.dataset_key(downstream), column, how)


def edge_row(
    upstream: int, source: str, downstream: int, column: str, how: list[dict[str, Any]] | None
) -> dict[str, Any]:
    """Return a row of `column_edge`."""
    return {
        "upstream_key": upstream,
        "upstream_field": source,
        "downstream_key": downstream,
        "downstream_field": column,
        "first_seen_at": shop.at(0),
        "last_seen_at": shop.at(1),
        "transformations": json.dumps(how) if how else None,
    }
