"""Lineward behind a PgBouncer by transaction: each transaction has another session."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import cycle

import pytest
from sqlalchemy import Engine, select, text
from sqlalchemy.exc import OperationalError

from lineage.catalog.engine import migrate, open_catalog, write_transaction
from lineage.catalog.leases import renew, try_take
from lineage.catalog.reader import UnreachableCatalogError, open_reader
from lineage.catalog.tables import dataset, meta
from lineage.policy import Policy
from slis.evaluation.evaluation import evaluate
from tests.service.commandline import environ
from tests.slis.stream.spools import rows, run_event, spool, work_off
from tests.suite.http_client import CLIENT
from tests.suite.pgbouncer import running_pgbouncer
from tests.suite.ports import free_port
from tests.suite.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.faults]

_BACKEND = "SELECT pg_backend_pid()"
_SESSIONS = 3
_RUNS = 12


@pytest.fixture
def behind(databases, postgres_server, tmp_path) -> Iterator[str]:
    """Give the URL of an empty catalog behind a PgBouncer."""
    engine = databases.take()
    with running_pgbouncer(postgres_server.url, tmp_path) as port:
        url = _url(engine, port)
        _open_sessions(url)
        yield url
    databases.give_back(engine)


def _url(engine: Engine, port: int) -> str:
    url = engine.url.set(host="127.0.0.1", port=port, query={})
    return url.render_as_string(hide_password=False)


def _open_sessions(url: str) -> None:
    """Have the PgBouncer open sessions, by as many transactions at once; it keeps them."""
    engine = open_catalog(url)
    with ExitStack() as opened:
        for _ in range(_SESSIONS):
            connection = opened.enter_context(engine.connect())
            connection.execute(text(_BACKEND))
    engine.dispose()


@pytest.fixture
def pooled(behind) -> Iterator[Engine]:
    """Open the catalog behind the PgBouncer."""
    engine = open_catalog(behind)
    yield engine
    engine.dispose()


def _events(at):
    return [
        run_event(kind, at(8, number), run=f"r{number}", inputs=["in"], outputs=[f"t{number}"])
        for number in range(_RUNS)
        for kind in ("START", "COMPLETE")
    ]


def _sessions(engine, count=20):
    """Return the sessions of so many transactions of one connection."""
    with engine.connect() as connection:
        found = []
        for _ in range(count):
            found.append(connection.scalar(text(_BACKEND)))
            connection.rollback()
    return set(found)


def test_transactions_of_one_connection_have_several_sessions(pooled):
    """Show that the PgBouncer does what the other tests rely on."""
    assert len(_sessions(pooled)) == _SESSIONS


def test_events_land_and_are_evaluated(pooled, embedded, spark, tmp_path, at):
    """Land in many batches while others read; compare with a catalog on SQLite."""
    spool(tmp_path / "spool.db", _events(at), received_at=at(12))
    for engine in (pooled, embedded):
        work_off(engine, tmp_path, at(12), max_rows=2)
        evaluate(spark, engine, Policy(), at(13))

    for query in (
        "SELECT name, namespace FROM dataset ORDER BY 1, 2",
        "SELECT run_id, completed_at FROM run ORDER BY 1",
        "SELECT sli, state, count(*) FROM dataset_state GROUP BY 1, 2 ORDER BY 1, 2",
        "SELECT last_seq FROM evaluation",
    ):
        assert rows(pooled, query) == rows(embedded, query) != []


def test_a_limit_applies_to_its_own_client(behind):
    """Let a client end its own statement, and no statement of a client that may take longer."""
    patient, strict = open_catalog(behind, seconds=600), open_catalog(behind, seconds=0.3)
    turns = cycle([patient, strict])
    for _ in range(20):
        with next(turns).connect() as connection:
            connection.execute(text(_BACKEND))
    for _ in range(6):
        with patient.connect() as connection:
            connection.execute(text("SELECT pg_sleep(0.6)"))
        with strict.connect() as connection, pytest.raises(OperationalError, match="timeout"):
            connection.execute(text("SELECT pg_sleep(30)"))
        with (
            open_reader(behind, seconds=0.3) as reader,
            pytest.raises(UnreachableCatalogError, match="timeout"),
        ):
            reader.rows("SELECT pg_sleep(30)")
    patient.dispose()
    strict.dispose()


def test_a_frequent_query_is_answered_by_each_session(pooled):
    """Ask the same on two connections: what one session has prepared the other does not know."""
    with pooled.connect() as one, pooled.connect() as other:
        for number in range(40):
            connection = (one, other)[number % 2]
            assert connection.execute(select(dataset.c.name)).all() == []
            connection.rollback()
    for number in range(40):
        with write_transaction(pooled) as connection:
            connection.execute(meta.insert(), {"name": f"n{number}", "value": "v"})
    assert rows(pooled, "SELECT count(*) FROM meta") == [(40,)]


def test_a_catalog_is_migrated(behind):
    """Make all tables again; no session keeps the migration's missing limit."""
    engine = open_catalog(behind, seconds=5)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    migrate(engine)
    for _ in range(6):
        with engine.connect() as connection:
            limits = connection.scalar(text("SHOW statement_timeout"))
            session = "SELECT reset_val FROM pg_settings WHERE name = 'statement_timeout'"
            assert (limits, connection.scalar(text(session))) == ("5s", "0")
    assert rows(engine, "SELECT count(*) FROM dataset") == [(0,)]
    engine.dispose()


def test_one_of_two_leads(pooled):
    """Take, renew and lose a lease by transactions of any session."""
    taken = try_take(pooled, "service", "one", 60)
    assert taken is not None
    for _ in range(10):
        assert try_take(pooled, "service", "other", 60) is None
        assert renew(pooled, "service", taken.epoch, 60) is not None
    assert rows(pooled, "SELECT holder FROM lease") == [("one",)]


def test_a_service_answers_and_leads(behind, pooled, tmp_path, at):
    """Start the real role, ask it more often than statements are prepared, and stop it."""
    spool(tmp_path / "spool.db", _events(at), received_at=at(12))
    work_off(pooled, tmp_path, at(12))
    variables = {"LINEWARD_DATA_DIR": str(tmp_path), "LINEWARD_CATALOG_URL": behind}
    port = free_port()
    variables |= {"LINEWARD_SERVICE_PORT": str(port), "LINEWARD_METRICS_PORT": "0"}
    log = tmp_path / "service.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "service"], env=environ(**variables), stderr=output
        )
    try:
        leads = "SELECT count(*) FROM lease WHERE expires_at > 0"
        until(lambda: rows(pooled, leads) == [(1,)], describe=log.read_text)
        asked = [f"http://127.0.0.1:{port}/api/v1/{what}" for what in ("datasets", "slis")]
        answers = [CLIENT.get(url) for url in asked * 20]
        assert {answer.status_code for answer in answers} == {200}
        assert "t11" in answers[0].text
    finally:
        process.terminate()
        assert process.wait(60) == 0
    assert "rror" not in log.read_text()
