"""Datasets with several names, which are visible to tokens that may see each name."""

import pytest
from sqlalchemy import insert, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from tests.service import shop
from tests.service.api.access.estate import HIDDEN, PAYROLL

pytestmark = pytest.mark.postgres_nightly

_PATHS = [
    "/api/v1/dataset?dataset=core/orders",
    "/api/v1/dataset?dataset=core/orders&dataset_namespace=s3://shop",
    "/api/v1/runs?dataset=core/orders",
    "/api/v1/lineage?dataset=core/orders",
    "/api/v1/why?dataset=core/orders",
]


def _statuses(estate, paths, who="shop"):
    return {path: estate.get(path, who).status_code for path in paths}


def _join(catalog, name, canonical):
    with write_transaction(catalog) as connection:
        table = tables.dataset
        statement = update(table).where(table.c.dataset_key == name)
        connection.execute(statement.values(canonical_key=canonical))


@pytest.mark.postgres_always
@pytest.mark.parametrize("hidden_is_canonical", [True, False])
def test_a_dataset_that_was_joined_with_a_hidden_one_is_hidden(estate, hidden_is_canonical):
    """Hide the dataset, so that joining names by an event shows nothing."""
    hidden, core = key(HIDDEN, PAYROLL), shop.dataset_key(shop.CORE)
    assert _statuses(estate, _PATHS) == dict.fromkeys(_PATHS, 200)
    _join(estate.catalog, *((core, hidden) if hidden_is_canonical else (hidden, core)))

    assert _statuses(estate, _PATHS) == dict.fromkeys(_PATHS, 404)
    for path in _PATHS:
        assert PAYROLL not in estate.get(path, "shop").text


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


_GHOST = "ghost/orders"
_BY_GHOST = [
    f"/api/v1/dataset?dataset={HIDDEN}/{_GHOST}",
    f"/api/v1/runs?dataset={_GHOST}",
    f"/api/v1/lineage?dataset={HIDDEN}/{_GHOST}",
    f"/api/v1/why?dataset={_GHOST}",
    f"/dataset?dataset={_GHOST}",
]
_LINKS = ["symlink", "rename", "policy"]


def _alias(catalog, rule, *, namespace=HIDDEN, name=_GHOST):
    """Give `core/orders` a name that nobody reports by."""
    row = {"alias_key": key(namespace, name), "dataset_key": shop.dataset_key(shop.CORE)}
    named = {"rule": rule, "namespace": namespace, "name": name}
    seen = {"first_seen_at": 1, "last_seen_at": 1}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset_alias), {**row, **named, **seen})


@pytest.mark.parametrize("rule", _LINKS)
def test_a_dataset_with_a_hidden_free_name_is_hidden(estate, rule):
    """Hide it by all its names, so that guessing one shows nothing."""
    paths = [*_PATHS, *_BY_GHOST]
    assert _statuses(estate, _BY_GHOST) == dict.fromkeys(_BY_GHOST, 404)
    _alias(estate.catalog, rule)

    assert _statuses(estate, paths) == dict.fromkeys(paths, 404)
    assert _statuses(estate, paths, "boss") == dict.fromkeys(paths, 200)
    for path in paths:
        assert HIDDEN not in estate.get(path, "shop").text.replace(f"{HIDDEN}/{_GHOST}", "")


@pytest.mark.parametrize("rule", _LINKS)
def test_lists_runs_and_walks_leave_a_dataset_with_a_hidden_free_name_out(estate, rule):
    before = estate.get("/api/v1/datasets", "shop").json()
    _alias(estate.catalog, rule)

    listed = estate.get("/api/v1/datasets", "shop").json()
    walked = estate.get("/api/v1/lineage?dataset=raw/orders", "shop").text

    assert listed["total"] == before["total"] - 1
    assert shop.CORE not in [one["dataset"] for one in listed["datasets"]]
    assert f'"{shop.CORE}"' not in walked
    assert "ghost" not in walked + estate.get("/api/v1/incidents", "shop").text


@pytest.mark.parametrize("rule", ["fold", "partition", "symlink"])
def test_no_hidden_alias_leads_to_a_dataset(estate, rule):
    _alias(estate.catalog, rule)

    assert _statuses(estate, _BY_GHOST) == dict.fromkeys(_BY_GHOST, 404)


@pytest.mark.parametrize("rule", ["fold", "partition"])
def test_a_spelling_hides_no_dataset(estate, rule):
    """Ignore names by the policy or Lineward itself, of which there is no end."""
    _alias(estate.catalog, rule)

    assert _statuses(estate, _PATHS) == dict.fromkeys(_PATHS, 200)
    assert all("ghost" not in estate.get(path, "shop").text for path in _PATHS)


@pytest.mark.parametrize("rule", [*_LINKS, "scheme"])
@pytest.mark.parametrize("namespace", ["s3://shop", "s3a://shop"])
def test_a_visible_alias_leads_to_its_dataset(estate, rule, namespace):
    """Decide by the token's patterns on a namespace that no dataset has."""
    if rule in _LINKS and namespace != "s3://shop":
        return
    _alias(estate.catalog, rule, namespace=namespace, name="mart.orders")

    answer = estate.get("/api/v1/dataset?dataset=mart.orders", "shop")

    assert answer.status_code == 200
    assert answer.json()["dataset"] == shop.CORE
