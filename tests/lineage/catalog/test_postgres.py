"""Failing PostgreSQL servers: a silent, slow or replaced server delays no caller without end."""

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from lineage.catalog import postgres
from lineage.catalog import reader as readers
from lineage.catalog.engine import open_catalog
from lineage.catalog.postgres import PARAMETERS, Connections, connect
from lineage.catalog.reader import UnreachableCatalogError, keep_connections, open_reader
from tests.lineage.catalog.proxy import running_proxy
from tests.suite.waiting import until

pytestmark = pytest.mark.postgres


@pytest.fixture
def proxy(postgres_server):
    """Return the address of a proxy before a server that answers."""
    with running_proxy(postgres_server.url) as found:
        yield found


@pytest.fixture
def pooled_url(proxy, monkeypatch):
    """Return the URL of the proxy, with two pooled connections of this process."""
    monkeypatch.setattr(readers, "_kept", {})
    keep_connections(proxy.url, 2)
    return proxy.url


def select_one(url, seconds=0.5):
    """Return the result of `SELECT 1`."""
    with open_reader(url, seconds=seconds) as reader:
        return reader.rows("SELECT 1")


def libpq(url):
    """Return the options as libpq reads them."""
    return url.replace("postgresql+psycopg:", "postgresql:")


def test_a_silent_server_is_unreachable_in_the_middle_of_a_query(pooled_url, proxy):
    """Fail after the limit; without one (mutant) the thread waits for the kernel's two hours."""
    with open_reader(pooled_url, seconds=0.5) as reader:
        assert reader.rows("SELECT 1") == [(1,)]
        proxy.stall()
        with pytest.raises(UnreachableCatalogError, match=r"not answered for 0\.5 s"):
            reader.rows("SELECT 2")


def test_a_silent_server_is_unreachable_for_the_next_caller(pooled_url, proxy):
    """Find the idle connection silent and make no new one; the next caller fails at once."""
    assert select_one(pooled_url) == [(1,)]
    proxy.stall()
    for _ in range(3):
        with pytest.raises(UnreachableCatalogError):
            select_one(pooled_url)

    proxy.resume()

    until(lambda: _is_reachable(pooled_url))


def test_a_silent_server_is_unreachable_for_a_command(proxy):
    """Count the connections of a process that keeps none."""
    proxy.stall()

    with pytest.raises(UnreachableCatalogError, match="timeout"):
        select_one(proxy.url)


def test_after_a_failover_the_next_query_succeeds(pooled_url, proxy):
    """Break every earlier connection silently."""
    with open_reader(pooled_url) as first, open_reader(pooled_url) as second:
        assert first.rows("SELECT 1") == second.rows("SELECT 1")
    proxy.cut()

    assert select_one(pooled_url) == [(1,)]


def test_after_a_failover_the_next_transaction_succeeds(proxy):
    """Fail once at most: each pooled connection used to fail once."""
    engine = open_catalog(proxy.url)
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
    proxy.cut()

    with engine.connect() as connection:
        assert connection.scalar(text("SELECT 1")) == 1
    engine.dispose()


def test_a_transaction_on_a_connection_that_was_cut_fails_by_an_error_of_sqlalchemy(proxy):
    """Wait for the catalog by the kind of the error; the next transaction succeeds."""
    engine = open_catalog(proxy.url)
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
        connection.rollback()
        proxy.cut()
        with pytest.raises(OperationalError):
            connection.execute(text("SELECT 1"))
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT 1")) == 1
    engine.dispose()


def test_a_writer_does_not_wait_for_a_silent_server(proxy):
    """Fail one transaction; the next select_one connects again."""
    engine = open_catalog(proxy.url, seconds=0.5)
    with engine.connect() as connection:
        connection.execute(text("SELECT 1"))
        proxy.stall()
        with pytest.raises(OperationalError, match="not answered"):
            connection.execute(text("SELECT 2"))
    proxy.resume()
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT 1")) == 1
    engine.dispose()


def test_a_statement_that_takes_too_long_is_ended_by_the_server(proxy):
    """Stop a query on the server once the caller has given up."""
    with (
        pytest.raises(UnreachableCatalogError, match="statement timeout"),
        open_reader(proxy.url, seconds=0.3) as reader,
    ):
        reader.rows("SELECT pg_sleep(60)")


@pytest.mark.parametrize(("seconds", "count"), [(1_800, 1), (0, 2)])
def test_an_old_connection_is_replaced(pooled_url, monkeypatch, seconds, count):
    """Replace those of readers and writers: they would stay with one of two poolers for ever."""
    monkeypatch.setattr(postgres, "REPLACED_SECONDS", seconds)
    engine, question = open_catalog(pooled_url), "SELECT pg_backend_pid()"
    read, written = set(), set()
    for _ in range(2):
        with open_reader(pooled_url) as reader:
            read.add(reader.rows(question)[0][0])
        with engine.connect() as connection:
            written.add(connection.scalar(text(question)))
    engine.dispose()

    assert (len(read), len(written)) == (count, count)


def test_connections_of_a_process_are_bounded(proxy):
    """Let the third wait for one of two, and fail when there is none."""
    connections = Connections(libpq(proxy.url), 2, wait_seconds=0.1)
    with connections.taken(5) as first, connections.taken(5) as second:
        assert first is not second
        with pytest.raises(psycopg.OperationalError, match="in use"), connections.taken(5):
            pass
    with connections.taken(5) as again:
        assert again in {first, second}
    connections.close()


def test_libpq_gives_up_a_dead_server(proxy):
    """Prefer what the URL says itself."""
    own = f"{libpq(proxy.url)}?keepalives_idle=7"
    with connect(own, 5) as connection:
        parameters = connection.info.get_parameters()

    wanted = {name: str(value) for name, value in PARAMETERS.items()} | {"keepalives_idle": "7"}
    assert {name: parameters.get(name, "1") for name in wanted} == wanted


def _is_reachable(url):
    """Wait a second after a failure."""
    try:
        return select_one(url, seconds=5) == [(1,)]
    except UnreachableCatalogError:
        return False
