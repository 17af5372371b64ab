"""SparkApplications of a fake API server, with the faults that Kubernetes documents."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

import pytest
import trustme
from kubernetes.client.exceptions import ApiException
from sqlalchemy import Engine, select
from urllib3.exceptions import HTTPError

from lineage.catalog import tables
from lineage.catalog.meta_keys import APPLICATIONS
from runbooks.actions.kubernetes_settings import KubernetesSettings
from service.ingest.kubernetes.connection import Resource, application_list_call, open_client
from service.ingest.kubernetes.follow import Follower, Options
from service.ingest.kubernetes.manifests import Reading
from service.ingest.kubernetes.store import ApplicationStore
from service.ingest.kubernetes.watcher import Watcher
from tests.fakes.kubernetes_watch import WatchedKubernetes, spark_pod, submitted
from tests.suite.waiting import until

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
JOBS = Resource(APPLICATIONS, "jobs")


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Return one authority: making keys takes a third of a second."""
    return trustme.CA()


@pytest.fixture
def cluster(authority) -> Iterator[WatchedKubernetes]:
    """Run an API server."""
    fake = WatchedKubernetes(authority)
    fake.listen()
    yield fake
    fake.stop()


@pytest.fixture
def settings(cluster, tmp_path) -> KubernetesSettings:
    """Return settings for the API server."""
    (tmp_path / "token").write_text(f"{cluster.token}\n")
    return KubernetesSettings(
        url=cluster.url,
        token_file=tmp_path / "token",
        ca_file=cluster.write_authority(tmp_path / "ca.pem"),
        timeout_seconds=5,
        namespaces="jobs",
        page_objects=2,
        watch_seconds=5,
    )


@pytest.fixture
def step(settings, embedded) -> Callable[[], None]:
    """Return one step of a follower: a list where needed, and a watch until it ends."""
    sink = ApplicationStore(embedded, JOBS, Reading.of(settings))
    listing = application_list_call(open_client(settings), "jobs")
    options = Options(settings.page_objects, settings.watch_seconds, settings.timeout_seconds, 0.0)
    follower = Follower(JOBS, listing, sink, options, lambda: NOW)
    return lambda: follower.step(Event())


def stored(engine: Engine, *columns: str) -> dict[str, Any]:
    """Return a column, or several, of each stored application by its name."""
    table = tables.spark_application
    with engine.connect() as connection:
        rows = connection.execute(select(table.c.name, *(table.c[name] for name in columns)))
        return {row[0]: row[1] if len(columns) == 1 else tuple(row[1:]) for row in rows}


def states(engine: Engine) -> dict[str, str]:
    """Return the state of each application that exists."""
    found = stored(engine, "state", "deleted_at")
    return {name: state for name, (state, deleted_at) in found.items() if deleted_at is None}


def watch_row(engine: Engine) -> Any:  # noqa: ANN401 - a row
    """Return the row of the watch of applications."""
    table = tables.kubernetes_watch
    query = select(table).where(table.c.resource == APPLICATIONS)
    with engine.connect() as connection:
        return connection.execute(query).one()


def test_all_pages_of_a_list_are_stored_and_no_page_is_larger_than_asked(cluster, step, embedded):
    """Read five applications in pages of two."""
    cluster.put(*(submitted(f"job-{number}") for number in range(5)))

    step()

    assert len(states(embedded)) == 5
    assert cluster.asked("limit=2") == 3
    assert cluster.asked("continue=") == 2


def test_a_page_is_stored_before_the_next_one_is_asked_for(cluster, step, embedded, monkeypatch):
    """Hold one page in memory, however many applications there are."""
    cluster.put(*(submitted(f"job-{number}") for number in range(5)))
    pages: list[tuple[int, int]] = []
    store = ApplicationStore.store

    def record(self, objects, at):
        pages.append((len(objects), cluster.asked("limit=2")))
        store(self, objects, at)

    monkeypatch.setattr(ApplicationStore, "store", record)
    step()

    assert pages == [(2, 1), (2, 2), (1, 3)]
    assert len(states(embedded)) == 5


def test_changes_are_stored_without_a_second_list(cluster, step, embedded):
    """Add, change and delete an application between two watches."""
    orders, rates = submitted("orders"), submitted("rates")
    cluster.put(orders, rates)
    step()
    cluster.put(submitted("orders", "COMPLETED"), submitted("churn"))
    cluster.delete(rates)

    step()

    assert states(embedded) == {"orders": "COMPLETED", "churn": "RUNNING"}
    assert cluster.lists() == 1
    is_ended, summary = stored(embedded, "is_ended", "summary")["rates"]
    assert is_ended
    assert summary.endswith(" listener, deleted at 2026-11-21 12:00:00 UTC, which was RUNNING")


def test_a_bookmark_spares_a_list_when_older_changes_are_gone(cluster, step, embedded):
    """Compact all changes that the watch saw: the bookmark's version is newer."""
    cluster.put(submitted("orders"))
    step()
    cluster.put(spark_pod("elsewhere"), spark_pod("elsewhere-2"))
    step()
    cluster.compacted = cluster.version
    cluster.put(submitted("orders", "COMPLETED"))

    step()

    assert states(embedded) == {"orders": "COMPLETED"}
    assert cluster.lists() == 1


@pytest.mark.parametrize("fault", ["error_event", "status_410"])
def test_a_version_that_is_gone_leads_to_a_new_list(cluster, step, embedded, fault):
    """Delete and add while nobody watches: the new list shows both."""
    cluster.bookmarks = False
    orders = submitted("orders")
    cluster.put(orders)
    step()
    cluster.delete(orders)
    cluster.put(submitted("rates"))
    if fault == "error_event":
        cluster.compacted = cluster.version
    else:
        cluster.faults.append("status_410")

    step()
    step()

    assert states(embedded) == {"rates": "RUNNING"}
    assert cluster.lists() == 2
    is_ended, summary = stored(embedded, "is_ended", "summary")["orders"]
    assert is_ended
    assert ", which was RUNNING" in summary


def test_a_list_that_is_gone_at_once_is_not_repeated_without_a_pause(cluster, step):
    """Raise the error, so that the caller waits: a new list would be gone as well."""
    cluster.compacted = cluster.version + 1

    with pytest.raises(ApiException, match="410"):
        step()


def test_a_page_that_expired_starts_the_list_again(cluster, step, embedded):
    """Store all applications by the second list."""
    cluster.put(*(submitted(f"job-{number}") for number in range(5)))
    cluster.faults.extend([None, "expired_page"])

    with pytest.raises(ApiException, match="410"):
        step()
    step()

    assert len(states(embedded)) == 5
    assert cluster.lists() == 2


@pytest.mark.parametrize("fault", ["cut", "cut_in_a_line"])
def test_a_broken_connection_loses_no_change(cluster, step, embedded, fault):
    """Break a watch between two changes, or within one: the next watch has the rest."""
    cluster.put(submitted("orders"))
    step()
    cluster.put(submitted("orders", "FAILED"))
    cluster.faults.append(fault)
    if fault == "cut":
        step()
    else:
        with pytest.raises(HTTPError):
            step()

    step()

    assert states(embedded) == {"orders": "FAILED"}
    assert cluster.lists() == 1


def test_a_pause_of_the_watch_is_known(step, settings, embedded):
    """Count the time as complete across a short pause, not across a long one."""
    step()
    first = watch_row(embedded)
    later = NOW.replace(hour=13)
    sink = ApplicationStore(embedded, JOBS, Reading.of(settings))
    sink.end_list(first.complete_until + 60_000_000)
    assert watch_row(embedded).complete_since == first.complete_since

    sink.end_list(int(later.timestamp() * 1e6))

    assert watch_row(embedded).complete_since == int(later.timestamp() * 1e6)


def test_a_list_ends_an_earlier_problem(cluster, step, settings, embedded):
    """Have the list work and its watch fail: the problem of before is over with the list."""
    ApplicationStore(embedded, JOBS, Reading.of(settings)).note_problem("forbidden", 1)
    cluster.faults.extend([None, "status_410"])

    with pytest.raises(ApiException, match="410"):
        step()

    assert watch_row(embedded).problem is None


def test_a_server_that_ends_each_watch_at_once_is_asked_after_a_pause(cluster, settings, embedded):
    """Wait for the rest of a second: the fake ends its watches within milliseconds."""
    waited: list[float] = []

    class Waiting(Event):
        def wait(self, timeout=None):
            waited.append(timeout or 0.0)
            return False

    sink = ApplicationStore(embedded, JOBS, Reading.of(settings))
    listing = application_list_call(open_client(settings), "jobs")
    Follower(JOBS, listing, sink, Options(2, 5, 5.0)).step(Waiting())

    assert cluster.asked("watch=") == 1
    assert 0.2 < waited[0] <= 1.0


def test_a_missing_permission_is_named_until_it_is_granted(cluster, settings, embedded):
    """Name verb, resource and namespace; go on when the Role is there, and after a restart."""
    cluster.forbidden = {("list", "sparkapplications")}
    cluster.put(submitted("orders"))
    stopping = Event()
    watcher = Watcher(settings, embedded)
    thread = Thread(target=watcher.run, args=(stopping,), daemon=True)
    thread.start()
    try:
        until(lambda: _problem(embedded))
        problem = _problem(embedded)
        cluster.stop()
        cluster.forbidden = set()
        cluster.listen()
        until(lambda: states(embedded) and not _problem(embedded))
    finally:
        stopping.set()
        thread.join(10)

    assert problem is not None
    assert 'cannot list resource "sparkapplications"' in problem
    assert f"get, list and watch of {APPLICATIONS}" in problem
    assert "namespace jobs" in problem
    assert not thread.is_alive()


def _problem(engine: Engine) -> str | None:
    table = tables.kubernetes_watch
    with engine.connect() as connection:
        return connection.scalar(select(table.c.problem).where(table.c.resource == APPLICATIONS))
