"""SparkApplications as shown to people and in metrics."""

from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console
from sqlalchemy import insert

from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, write_transaction
from lineage.catalog.reader import open_reader
from lineage.process.clock import to_micros
from service.cli.commands.applications import applications_table
from service.cli.commands.status import status_text
from service.exporter.integrations import kubernetes_families
from service.queries.applications import kubernetes_status, list_applications
from service.queries.status import load_status
from service.runtime.settings import Settings

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
_FORBIDDEN = "Kubernetes forbids the ServiceAccount of Lineward to read pods in namespace jobs"


def _row(name: str, minute: int, **given: object) -> dict[str, object]:
    at = to_micros(NOON.replace(hour=11, minute=minute))
    usual = {"uid": name, "kube_namespace": "jobs", "name": name, "job_name": name, "summary": ""}
    usual |= {"state": "COMPLETED", "is_ended": True, "is_newest": True, "has_listener": 1}
    return {
        **usual,
        "submitted_at": at,
        "seen_at": at,
        "problem": None,
        "deleted_at": None,
        **given,
    }


@pytest.fixture
def reader(embedded, tmp_path):
    """Read a catalog with five applications, and two watches of which one is forbidden."""
    rows = [
        _row("orders", 1, has_listener=2),  # by events, as it is stored
        _row("rates", 2, has_listener=0),
        _row("churn", 3, has_listener=None, state="FAILED", problem="driver OOMKilled"),
        _row("old-orders", 0, job_name="orders", is_newest=False, has_listener=0),
        _row("gone", 4, has_listener=0, deleted_at=1),
    ]
    watch = {"kube_namespace": "jobs", "complete_since": 1, "complete_until": to_micros(NOON) - 9}
    with write_transaction(embedded) as connection:
        connection.execute(insert(tables.spark_application), rows)
        connection.execute(
            insert(tables.kubernetes_watch),
            [
                {"resource": "sparkapplications", "problem": None, **watch},
                {"resource": "pods", "problem": _FORBIDDEN, **watch},
            ],
        )
    with open_reader(catalog_url(tmp_path)) as found:
        yield found


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({}, ["churn", "rates", "orders"]),
        ({"without_listener": True}, ["rates"]),
        ({"failed": True}, ["churn"]),
        ({"failed": True, "without_listener": True}, ["churn", "rates"]),
    ],
)
def test_the_last_application_of_each_job_is_listed(reader, wanted, names):
    """Leave out earlier ones of a job, and those that were deleted."""
    options = {"without_listener": False, "failed": False, "limit": 50, **wanted}
    answer = list_applications(reader, **options)

    assert [one.name for one in answer.applications] == names
    assert not answer.partial


def test_a_cut_list_of_applications_is_partial(reader):
    """Show the newest one of three."""
    answer = list_applications(reader, without_listener=False, failed=False, limit=1)
    screen = Console(width=200)
    with screen.capture() as shown:
        screen.print(applications_table(answer))

    assert (answer.partial, answer.partial_reason) == (True, "the newest 1")
    assert "driver OOMKilled" in shown.get()
    assert "unknown" in shown.get()


def test_status_and_metrics_name_a_watch_that_is_forbidden(reader, tmp_path):
    """Count jobs by listener; show the message of the API server."""
    screen = Console(width=200)
    with screen.capture() as shown:
        screen.print(status_text(load_status(Settings(data_dir=tmp_path), NOON)))
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in kubernetes_families(reader, NOON)
        for sample in family.samples
    }

    assert f"kubernetes: {_FORBIDDEN}" in shown.get()
    assert "1 with a listener, 1 without a listener" in shown.get()
    assert samples == {
        ("lineage_spark_application_jobs", "yes"): 1,
        ("lineage_spark_application_jobs", "no"): 1,
        ("lineage_spark_application_jobs", "unknown"): 1,
        ("lineage_kubernetes_watch_working", "sparkapplications", "jobs"): 1,
        ("lineage_kubernetes_watch_working", "pods", "jobs"): 0,
    }


def test_a_watch_of_a_dead_role_does_not_work(reader):
    """Show since when nothing is watched, five minutes after the role ended without a word."""
    later = NOON + timedelta(minutes=5)
    problem = kubernetes_status(reader, later).watches[1].problem
    families = kubernetes_families(reader, later)
    working = {tuple(one.labels.values()): one.value for one in list(families)[1].samples}

    assert "have not been watched since 2026-11-21T11:59:59.999Z" in problem
    assert set(working.values()) == {0}


def test_nothing_is_shown_where_nothing_was_watched(embedded, tmp_path):
    """Return null: no job, and no watch, is no figure."""
    with embedded.connect(), open_reader(catalog_url(tmp_path)) as found:
        assert kubernetes_status(found, NOON) is None
        assert list(kubernetes_families(found, NOON)) == []
