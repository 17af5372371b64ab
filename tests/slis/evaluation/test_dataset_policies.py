"""Recomputation of tiers and owners: when it happens."""

import pytest
from sqlalchemy import insert, select, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from lineage.policy import Policy, parse_policy
from slis.evaluation.dataset_policies import renew_policies


def _retire(catalog, number: int, at: int | None) -> None:
    with write_transaction(catalog) as connection:
        own = tables.dataset.c.dataset_key == number
        connection.execute(update(tables.dataset).where(own).values(retired_at=at))


def _list_resolved(catalog) -> list[int]:
    with catalog.connect() as connection:
        return sorted(connection.scalars(select(tables.dataset_policy.c.dataset_key)))


def test_a_retired_dataset_and_a_returned_one_are_a_change(catalog):
    """Detect the change although the number of retired datasets is the same."""
    seen = {"namespace": "s3://shop", "first_seen_at": 1, "last_seen_at": 1}
    rows = [{"dataset_key": n, "canonical_key": n, "name": f"d{n}", **seen} for n in (1, 2)]
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset), rows)
    _retire(catalog, 2, 5)
    assert renew_policies(catalog, Policy())
    assert _list_resolved(catalog) == [1]
    assert not renew_policies(catalog, Policy())

    _retire(catalog, 1, 6)
    _retire(catalog, 2, None)

    assert renew_policies(catalog, Policy())
    assert _list_resolved(catalog) == [2]


def test_a_dataset_without_an_owner_has_that_of_the_job_that_writes_it(catalog):
    """Prefer a dataset's own facet; Airflow names owners of tasks only."""
    seen = {"namespace": "s3://shop", "first_seen_at": 1, "last_seen_at": 1}
    rows = [{"dataset_key": n, "canonical_key": n, "name": f"d{n}", **seen} for n in (1, 2)]
    owners = [("dataset", 2, "sales"), ("job", key("airflow", "daily.load"), "ingest")]
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset), rows)
        connection.execute(
            insert(tables.ownership),
            [
                {"subject": subject, "subject_key": number, "owner": owner, "last_seen_at": 1}
                for subject, number, owner in owners
            ],
        )
    assert renew_policies(catalog, Policy())
    assert _owners(catalog) == {1: None, 2: "sales"}

    job = {"last_job_namespace": "airflow", "last_job_name": "daily.load"}
    written = [{"dataset_key": n, "writes": 1, "learned_writes": 0, **job} for n in (1, 2)]
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.dataset_activity), written)

    assert renew_policies(catalog, Policy())
    assert _owners(catalog) == {1: "ingest", 2: "sales"}


def test_the_owner_of_a_spark_application_comes_after_that_of_events(catalog):
    """Use the application's owner until an event names an owner of the job; follow its changes."""
    seen = {"namespace": "s3://shop", "first_seen_at": 1, "last_seen_at": 1}
    at = {"submitted_at": 1, "seen_at": 1, "state": "RUNNING", "summary": "", "is_ended": False}
    job = {"last_job_namespace": "spark", "last_job_name": "orders"}
    ran = {"uid": "1", "kube_namespace": "jobs", "name": "orders", "job_name": "orders"}
    with write_transaction(catalog) as connection:
        row = {"dataset_key": 1, "canonical_key": 1, "name": "d1", **seen}
        connection.execute(insert(tables.dataset), row)
        row = {"dataset_key": 1, "writes": 1, "learned_writes": 0, **job}
        connection.execute(insert(tables.dataset_activity), row)
        row = {**ran, **at, "is_newest": True, "owner": "shop"}
        connection.execute(insert(tables.spark_application), row)
    assert renew_policies(catalog, Policy())
    assert _owners(catalog) == {1: "shop"}
    with write_transaction(catalog) as connection:
        # A job that wrote no dataset, as for each object with a generated name, is no
        # change.
        other = {**row, "uid": "2", "name": "orders-x7k2", "job_name": "orders_x7k2"}
        connection.execute(insert(tables.spark_application), other)
    assert not renew_policies(catalog, Policy())
    with write_transaction(catalog) as connection:
        connection.execute(update(tables.spark_application).values(owner="core"))
    assert renew_policies(catalog, Policy())
    assert _owners(catalog) == {1: "core"}

    with write_transaction(catalog) as connection:
        row = {"subject": "job", "subject_key": key("spark", "orders"), "owner": "etl"}
        connection.execute(insert(tables.ownership), {**row, "last_seen_at": 1})

    assert renew_policies(catalog, Policy())
    assert _owners(catalog) == {1: "etl"}


_TIMES = {"first_event_at": 1, "last_event_at": 1, "landed_at": 1}
_ONE_TASK = {
    "run_id": "r1",
    "root_run_id": "dag-1",
    "job_namespace": "airflow",
    "job_name": "daily.load",
    "root_job_namespace": "airflow",
    "root_job_name": "daily",
    "leaf_job_namespace": "airflow",
    "leaf_job_name": "daily.load",
    "is_history": False,
    **_TIMES,
}


@pytest.mark.parametrize(
    ("rules", "owner"),
    [
        ("[{match: 'airflow/daily', owner: mart}]", "mart"),
        ("[{match: 'airflow/daily', owner: mart}, {match: 'airflow/*.load', owner: in}]", "in"),
        ("[{match: 'airflow/other', owner: mart}]", None),
    ],
)
def test_a_rule_for_the_job_or_its_root_job_owns_what_the_job_wrote_last(catalog, rules, owner):
    """Find owners by DAG, as the policy names them for Airflow.

    A rule for the dataset comes first.
    """
    seen = {"namespace": "s3://shop", "first_seen_at": 1, "last_seen_at": 1}
    job = {"last_job_namespace": "airflow", "last_job_name": "daily.load"}
    write = {"writes": 1, "learned_writes": 0, "last_write_root_run_id": "dag-1", **job}
    with write_transaction(catalog) as connection:
        for n in (1, 2):
            row = {"dataset_key": n, "canonical_key": n, "name": f"d{n}", **seen}
            connection.execute(insert(tables.dataset), row)
            connection.execute(insert(tables.dataset_activity), {"dataset_key": n, **write})
            flags = {"has_statistics": False, "is_reported": True}
            io = {"run_key": 7, "dataset_key": n, "direction": "write", **flags, **_TIMES}
            connection.execute(insert(tables.run_io), io)
            by = {"dataset_key": n, "job_namespace": "airflow", "landed_at": 1}
            connection.execute(insert(tables.dataset_producer), by)
        connection.execute(insert(tables.run), {"run_key": 7, **_ONE_TASK})
    assert renew_policies(catalog, Policy())
    names = "[{name: mart}, {name: in}, {name: core}]"
    own = "[{match: s3://shop/d2, owner: core}]"

    assert renew_policies(catalog, parse_policy(f"owners: {names}\njobs: {rules}\ndatasets: {own}"))
    assert _owners(catalog) == {1: owner, 2: "core"}


def _owners(catalog) -> dict[int, str | None]:
    table = tables.dataset_policy
    with catalog.connect() as connection:
        return dict(connection.execute(select(table.c.dataset_key, table.c.owner)).all())
