"""A dataset with several names is shown to those who may see each of them."""

import pytest
from sqlalchemy import update

from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.keys import key
from tests.service import shop
from tests.service.access.estate import HIDDEN, PAYROLL

_PATHS = [
    "/api/v1/dataset?dataset=core/orders",
    "/api/v1/dataset?dataset=core/orders&dataset_namespace=s3://shop",
    "/api/v1/runs?dataset=core/orders",
    "/api/v1/lineage?dataset=core/orders",
    "/api/v1/why?dataset=core/orders",
]


def _join(catalog, name, canonical):
    with writing(catalog) as connection:
        table = tables.dataset
        statement = update(table).where(table.c.dataset_key == name)
        connection.execute(statement.values(canonical_key=canonical))


@pytest.mark.parametrize("path", _PATHS)
@pytest.mark.parametrize("hidden_is_canonical", [True, False])
def test_a_dataset_that_was_joined_with_a_hidden_one_is_hidden(estate, path, hidden_is_canonical):
    """Whoever joins two names by an event shows nothing to anybody."""
    hidden, core = key(HIDDEN, PAYROLL), shop.dataset_key(shop.CORE)
    assert estate.get(path, "shop").status_code == 200
    _join(estate.catalog, *((core, hidden) if hidden_is_canonical else (hidden, core)))

    answer = estate.get(path, "shop")

    assert answer.status_code == 404
    assert PAYROLL not in answer.text


def test_lists_and_walks_leave_a_joined_dataset_out(estate):
    hidden, core = key(HIDDEN, PAYROLL), shop.dataset_key(shop.CORE)
    before = estate.get("/api/v1/datasets", "shop").json()
    _join(estate.catalog, hidden, core)

    listed = estate.get("/api/v1/datasets", "shop").json()
    walked = estate.get("/api/v1/lineage?dataset=raw/orders", "shop").text

    assert listed["total"] == before["total"] - 1
    assert shop.CORE not in [one["dataset"] for one in listed["datasets"]]
    assert f'"{shop.CORE}"' not in walked
    assert estate.get(_PATHS[0], "boss").status_code == 200
