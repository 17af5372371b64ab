"""Order in which datasets are listed, compared with their states and tiers."""

import pyarrow as pa
import pytest
from sqlalchemy import Engine, insert, select, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.queries import NO_TIER, NOT_JUDGED
from lineage.catalog.reader import open_reader
from lineage.errors import InvalidRequestError
from lineage.policy import Policy, parse_policy
from service.queries.datasets import Filters, ListPart, list_datasets
from service.queries.shapes import DatasetPage
from service.queries.timestamps import Evaluated
from slis.evaluation import dataset_policies
from slis.evaluation.dataset_states import StateChanges, change_states
from slis.stream.names.rekey import move_facts

pytestmark = pytest.mark.postgres_nightly

NOW = Evaluated(as_of=1, seconds=1.0, stale=False)
POLICY = """
datasets:
  - match: s3://shop/core.*
    tier: critical
  - match: s3://shop/mart.*
    tier: important
"""


@pytest.fixture
def estate(catalog: Engine) -> Engine:
    """Create five datasets without a state yet."""
    names = ("core.orders", "core.rates", "mart.daily", "raw.orders", "raw.rates")
    seen = {"namespace": "s3://shop", "first_seen_at": 1, "last_seen_at": 1}
    rows = [
        {"dataset_key": key, "canonical_key": key, "name": name, **seen}
        for key, name in enumerate(names)
    ]
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset), rows)
    return catalog


def _judge(estate: Engine, *states: tuple[int, str, str], gone: tuple[int, ...] = ()) -> None:
    unset = ("reason", "evidence", "limit_seconds", "limit_origin", "age_seconds")
    rows = [
        {"dataset_key": key, "sli": sli, "state": state, "since": 1, **dict.fromkeys(unset)}
        for key, sli, state in states
    ]
    left = [(key, sli) for key in gone for sli in ("M1", "M2")]
    with write_transaction(estate) as connection:
        change_states(connection, StateChanges(rows=pa.Table.from_pylist(rows), gone=left))


def _list_datasets(estate: Engine, **filters: str) -> list[str]:
    with open_reader(estate.url.render_as_string(hide_password=False)) as reader:
        page = list_datasets(reader, Filters(**filters), NOW)
    assert page.total == len(page.datasets)
    assert all(row.tier == filters.get("tier", row.tier) for row in page.datasets)
    return [f"{row.dataset} {row.state}" for row in page.datasets]


def test_datasets_without_a_state_are_unknown_and_listed_by_name(estate):
    """List datasets without a state and a tier by name."""
    assert _list_datasets(estate, state="unknown") == [
        *("core.orders unknown", "core.rates unknown", "mart.daily unknown"),
        *("raw.orders unknown", "raw.rates unknown"),
    ]


def test_the_most_severe_come_first_and_of_these_the_highest_tier(estate):
    """Sort by the most severe of their states, whatever the others are."""
    dataset_policies.renew_policies(estate, parse_policy(POLICY))
    _judge(estate, (0, "M1", "good"), (1, "M1", "bad"), (1, "M2", "good"), (2, "M2", "learning"))
    _judge(estate, (3, "M1", "good"), (3, "M2", "bad"))

    assert _list_datasets(estate) == [
        *("core.rates bad", "raw.orders bad", "raw.rates unknown"),
        *("mart.daily learning", "core.orders good"),
    ]
    assert _list_datasets(estate, tier="critical") == ["core.rates bad", "core.orders good"]
    with pytest.raises(InvalidRequestError, match="tier: expected one of critical"):
        _list_datasets(estate, tier="none of ours")


def test_the_order_follows_states_and_tiers(estate):
    """Follow also where states are gone, and where a tier is withdrawn."""
    dataset_policies.renew_policies(estate, parse_policy(POLICY))
    _judge(estate, *((key, "M1", "good") for key in range(5)))
    _judge(estate, (4, "M2", "bad"))
    _judge(estate, (4, "M2", "learning"), gone=(0,))

    assert _list_datasets(estate)[:2] == ["core.orders unknown", "raw.rates learning"]
    dataset_policies.renew_policies(estate, Policy())
    assert _list_datasets(estate)[2:] == ["core.rates good", "mart.daily good", "raw.orders good"]


@pytest.mark.postgres_always
def test_a_name_that_becomes_an_alias_is_no_longer_listed(estate):
    """Compute known facts again under the key that is left."""
    dataset_policies.renew_policies(estate, parse_policy(POLICY))
    _judge(estate, (0, "M1", "bad"))
    with write_transaction(estate) as connection:
        move_facts(connection, [0], 1)
        table = tables.dataset.c
        ranks = connection.execute(
            select(table.state_rank, table.tier_rank).where(table.dataset_key == 0)
        ).one()

    assert tuple(ranks) == (NOT_JUDGED, NO_TIER)
    assert _list_datasets(estate)[0].startswith("core.rates")


def test_a_dataset_newer_than_the_resolved_policy_counts_as_undeclared(estate):
    """List them in lists, impacts and metrics by that tier."""
    dataset_policies.renew_policies(estate, parse_policy(POLICY))
    seen = {"namespace": "s3://shop", "first_seen_at": 2, "last_seen_at": 2}
    came = {"dataset_key": 9, "canonical_key": 9, "name": "core.late", **seen}
    with write_transaction(estate) as connection:
        connection.execute(insert(tables.dataset), came)

    assert _list_datasets(estate, tier="optional")[0] == "core.late unknown"


@pytest.mark.postgres_always
def test_a_retired_dataset_is_not_listed(estate):
    """Leave it out, by request or by age."""
    with write_transaction(estate) as connection:
        connection.execute(update(tables.dataset).values(retired_at=2))

    assert _list_datasets(estate) == []


_FIRST = ListPart(limit=1)


class Explained:
    """Reader that records the plans of the database."""

    def __init__(self, reader) -> None:
        self._reader = reader
        self.plans: list[str] = []

    def alike(self, column, pattern):
        """Return the plan in the database's words."""
        return self._reader.alike(column, pattern)

    def rows(self, sql, values):
        """Return the result."""
        plan = self._reader.rows(f"EXPLAIN QUERY PLAN {sql}", values)
        self.plans.append(", ".join(row[3] for row in plan))
        return self._reader.rows(sql, values)


def _plans(
    estate: Engine, filters: Filters, part: ListPart = _FIRST
) -> tuple[DatasetPage, list[str]]:
    with open_reader(estate.url.render_as_string(hide_password=False)) as reader:
        explained = Explained(reader)
        return list_datasets(explained, filters, NOW, part), explained.plans


@pytest.mark.parametrize("catalogs", ["sqlite"], indirect=True)
def test_the_list_is_counted_and_cut_by_its_index(estate):
    """Use the index: by expressions unlike those of the index, every row would be read."""
    first, (counts, rows) = _plans(estate, Filters())
    _, (_, behind) = _plans(estate, Filters(), ListPart(limit=1, cursor=first.next_cursor))
    _, (of_state, bad) = _plans(estate, Filters(state="bad"))

    assert counts == "SCAN d USING COVERING INDEX dataset_listed"
    assert "SCAN d USING INDEX dataset_listed" in rows
    assert "SEARCH d USING INDEX dataset_listed ((state_rank,tier_rank,name)>" in behind
    assert "SEARCH d USING COVERING INDEX dataset_listed (state_rank=?)" in of_state
    assert "SEARCH d USING INDEX dataset_listed (state_rank=?)" in bad
