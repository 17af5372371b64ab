"""When tiers and owners are worked out anew."""

from sqlalchemy import insert, select, update

from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.policy import Policy
from slis.dataset_policies import renew


def _retire(catalog, key: int, at: int | None) -> None:
    with writing(catalog) as connection:
        own = tables.dataset.c.dataset_key == key
        connection.execute(update(tables.dataset).where(own).values(retired_at=at))


def _resolved(catalog) -> list[int]:
    with catalog.connect() as connection:
        return sorted(connection.scalars(select(tables.dataset_policy.c.dataset_key)))


def test_one_retired_while_another_comes_back_is_a_change(catalog):
    """As many are retired as before, and others."""
    seen = {"namespace": "s3://shop", "first_seen_at": 1, "last_seen_at": 1}
    rows = [{"dataset_key": n, "canonical_key": n, "name": f"d{n}", **seen} for n in (1, 2)]
    with writing(catalog) as connection:
        connection.execute(insert(tables.dataset), rows)
    _retire(catalog, 2, 5)
    assert renew(catalog, Policy())
    assert _resolved(catalog) == [1]
    assert not renew(catalog, Policy())

    _retire(catalog, 1, 6)
    _retire(catalog, 2, None)

    assert renew(catalog, Policy())
    assert _resolved(catalog) == [2]
