"""When tiers and owners are worked out anew."""

from sqlalchemy import insert, select, update

from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.keys import key
from lineage.policy import Policy
from slis.dataset_policies import renew


def _retire(catalog, number: int, at: int | None) -> None:
    with writing(catalog) as connection:
        own = tables.dataset.c.dataset_key == number
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


def test_a_dataset_without_an_owner_has_that_of_the_job_that_writes_it(catalog):
    """Airflow names owners of tasks only. A dataset's own facet comes first."""
    seen = {"namespace": "s3://shop", "first_seen_at": 1, "last_seen_at": 1}
    rows = [{"dataset_key": n, "canonical_key": n, "name": f"d{n}", **seen} for n in (1, 2)]
    owners = [("dataset", 2, "sales"), ("job", key("airflow", "daily.load"), "ingest")]
    with writing(catalog) as connection:
        connection.execute(insert(tables.dataset), rows)
        connection.execute(
            insert(tables.ownership),
            [
                {"subject": subject, "subject_key": number, "owner": owner, "last_seen_at": 1}
                for subject, number, owner in owners
            ],
        )
    assert renew(catalog, Policy())
    assert _owners(catalog) == {1: None, 2: "sales"}

    job = {"last_job_namespace": "airflow", "last_job_name": "daily.load"}
    written = [{"dataset_key": n, "writes": 1, "learned_writes": 0, **job} for n in (1, 2)]
    with writing(catalog) as connection:
        connection.execute(insert(tables.dataset_activity), written)

    assert renew(catalog, Policy())
    assert _owners(catalog) == {1: "ingest", 2: "sales"}


def _owners(catalog) -> dict[int, str | None]:
    table = tables.dataset_policy
    with catalog.connect() as connection:
        return dict(connection.execute(select(table.c.dataset_key, table.c.owner)).all())
