"""Input of an evaluation: the catalog's rows equal a fold over the facts."""

from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql.types import StructType
from sqlalchemy import insert, update

from lab.bench import estate_rows
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import APPLICATIONS
from lineage.policy import Policy
from lineage.process.clock import to_micros
from slis.evaluation import dataset_policies
from slis.evaluation.facts_as_of import facts_as_of
from slis.evaluation.input import (
    _LANDED_BY,
    _NAMES_INPUT,
    EvaluationInput,
    EvaluationRange,
    read_rows,
)
from slis.evaluation.late_writes import _LANDED
from slis.evaluation.sli_schemas import KNOWN
from slis.evaluation.watched_evidence import read_evidence
from slis.evidence.merge import note_pass
from tests.service import shop
from tests.slis.catalog_rows import CatalogRows
from tests.slis.plans import plan_of

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
NOW = EvaluationRange(as_of=NOON, previous_as_of=None, after_seq=0, last_seq=0)
FACTS = ("write", "read_at", "failed", "started_at")


def _compare_with_each_alone(catalog):
    """Compare the rows of all datasets with those of each alone, and with its evidence alone."""
    for row in read_rows(catalog, NOON).to_pylist():
        assert read_rows(catalog, NOON, [row["dataset_key"]]).to_pylist() == [row]
        [evidence] = read_evidence(catalog, [row["dataset_key"]]).to_pylist()
        assert evidence == {name: row[name] for name in evidence}


def test_the_catalog_s_rows_equal_a_fold(spark, catalog):
    """Read one row per dataset, up to now, equal to a fold over all facts."""
    estate_rows.fill(catalog, datasets=20, edges=20, now=NOON - timedelta(hours=1))
    dataset_policies.renew_policies(catalog, Policy())
    given = EvaluationInput(spark, catalog, NOW)
    read = given.known()
    facts = read.select("dataset_key", read.as_of.alias("visible_at"), *FACTS)

    folded = facts_as_of(facts, given.datasets(), given.instants).collect()

    assert StructType.fromDDL(KNOWN).names == read.columns
    assert sorted(read.collect()) == sorted(folded)
    assert len(folded) == 20


def test_a_job_is_seen_in_the_logs_of_its_own_namespace(spark, catalog):
    """Ignore `orders` of another team; match a log without a namespace by its name."""
    rows = CatalogRows(catalog, NOON - timedelta(days=3))
    for name, namespace, job in (
        ("core.orders", "ours", "orders"),
        ("core.rates", "ours", "rates"),
        ("core.other", "ours", "other"),
    ):
        last = {"last_job_namespace": namespace, "last_job_name": job}
        rows.dataset(name, writes=1, last_written_at=NOON - timedelta(days=2), **last)
    hours = {
        ("orders", "ours"): 30,
        ("orders", "theirs"): 1,
        ("rates", "theirs"): 1,
        ("other", "ours"): 3,
        ("other", None): 2,
    }
    ran = [
        {"application_id": f"a-{number}", "name": name, "namespace": namespace, "started_at": at}
        for number, ((name, namespace), ago) in enumerate(hours.items())
        for at in [to_micros(NOON - timedelta(hours=ago))]
    ]
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.application), ran)
        note_pass(connection, to_micros(NOON), unlisted=0, is_whole=True)
    dataset_policies.renew_policies(catalog, Policy())

    read = EvaluationInput(spark, catalog, NOW).datasets()

    _compare_with_each_alone(catalog)
    noon = NOON.replace(tzinfo=None)
    assert {row.name: (row.job_seen_at, row.logs_read_at) for row in read.collect()} == {
        "core.orders": (noon - timedelta(hours=30), noon),
        "core.rates": (None, noon),
        "core.other": (noon - timedelta(hours=2), noon),
    }


_YESTERDAY = NOON - timedelta(days=1)


def _application(name: str, job: tuple[str | None, str], hours: float, **given: object):
    """Return the row of an application that was submitted so many hours before noon."""
    at = to_micros(NOON - timedelta(hours=hours))
    usual = {"uid": name, "kube_namespace": "spark", "name": name, "state": "COMPLETED"}
    usual |= {"is_ended": True, "is_newest": True, "has_listener": 1, "seen_at": at}
    named = {"job_namespace": job[0], "job_name": job[1], "summary": f"as {name}"}
    return {**usual, **named, "submitted_at": at, "spark_id": None, **given}


def test_a_dataset_has_the_last_application_of_its_job(spark, catalog):
    """Match by job, by a name without a namespace, and by the annotation that names the dataset."""
    rows = CatalogRows(catalog, NOON - timedelta(days=3))
    for name, job in (
        ("a", "orders"),
        ("b", "rates"),
        ("c", "churn"),
        ("d", "clicks"),
        ("g", "killed"),
    ):
        named = {"last_job_namespace": "ours", "last_job_name": job}
        rows.dataset(name, writes=1, last_written_at=_YESTERDAY, **named)
    last = {"last_job_namespace": "ours", "last_job_name": "moved"}
    root = {"last_write_root_run_id": shop.run_row()["root_run_id"]}
    rows.dataset("h", writes=1, last_written_at=_YESTERDAY, **last, **root)
    ended = {"completed_at": to_micros(_YESTERDAY), "failed_at": None, "application_id": "spark-x"}
    before = NOON - timedelta(days=1, hours=1)
    last = {"last_job_namespace": "ours", "last_job_name": "late"}
    rows.dataset("f", writes=1, last_written_at=before, **last)
    never = rows.dataset("e")
    watch = {"resource": APPLICATIONS, "complete_until": to_micros(NOON)}
    with write_transaction(catalog) as connection:
        connection.execute(insert(tables.run), shop.run_row() | ended)
        connection.execute(
            insert(tables.spark_application),
            [
                _application("moved-1", ("ours", "moved"), 40, spark_id="spark-1"),
                _application("moved-x", ("ours", "moved_x"), 25, spark_id="spark-x"),
                _application("orders-1", ("ours", "orders"), 30),
                _application("orders-2", ("theirs", "orders"), 1),
                _application("rates-1", (None, "rates"), 3, has_listener=0),
                _application("rates-2", ("ours", "rates"), 2, is_newest=False),
                _application("churn-1", ("ours", "churn"), 40, is_ended=False),
                _application("e-1", (None, "of_e"), 5, has_listener=0),
                _application("late-1", ("ours", "late"), 40),
                _application("killed-1", (None, "killed"), 4, has_listener=0, state="FAILED"),
            ],
        )
        connection.execute(insert(tables.spark_output), {"uid": "e-1", "dataset_key": never})
        connection.execute(
            insert(tables.kubernetes_watch),
            [
                {**watch, "kube_namespace": "spark", "complete_since": to_micros(_YESTERDAY)},
                {**watch, "kube_namespace": "etl", "complete_since": 1},
            ],
        )
    dataset_policies.renew_policies(catalog, Policy())

    read = EvaluationInput(spark, catalog, NOW).datasets()

    _compare_with_each_alone(catalog)
    noon = NOON.replace(tzinfo=None)
    columns = ("app_seen_at", "app_summary", "app_lacks_listener", "app_checked_at")
    assert {row.name: tuple(row[name] for name in columns) for row in read.collect()} == {
        "a": (noon - timedelta(hours=30), "as orders-1", False, noon),
        "b": (noon - timedelta(hours=3), "as rates-1", True, noon),
        "c": (noon - timedelta(hours=40), "as churn-1", False, None),
        "d": (None, None, None, None),
        "e": (noon - timedelta(hours=5), "as e-1", True, None),
        "f": (noon - timedelta(hours=40), "as late-1", False, None),  # watched since a later time
        "h": (noon - timedelta(hours=40), "as moved-1", False, None),  # `moved-x` wrote it
        "g": (noon - timedelta(hours=4), "as killed-1", False, noon),  # it did not complete
    }
    with write_transaction(catalog) as connection:
        connection.execute(update(tables.kubernetes_watch).values(complete_since=None))
    again = EvaluationInput(spark, catalog, NOW).datasets().where("app_checked_at IS NOT NULL")
    assert again.collect() == []


def test_runs_whose_sql_is_to_be_read_are_found_once_for_all_datasets(embedded):
    """Look up no run for each dataset: one root run may have 100,000 of them."""
    with embedded.connect() as connection:
        plan = plan_of(connection, f"SELECT {_NAMES_INPUT} FROM dataset_activity a")  # noqa: S608 - ours

    assert "SCAN s USING COVERING INDEX" in plan
    assert "SEARCH w" in plan
    assert "CORRELATED" not in plan


@pytest.mark.parametrize("query", [_LANDED_BY, _LANDED])
def test_the_newest_batch_is_found_by_its_number(embedded, query):
    """Read the newest of millions of batches, and no other."""
    with embedded.connect() as connection:
        plan = plan_of(connection, query)

    assert "USING INDEX batch_last_seq" in plan
    assert "TEMP B-TREE" not in plan
