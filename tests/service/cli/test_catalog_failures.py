"""Commands on a catalog that is locked, read-only or away: one line that names the catalog."""

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from litestar.testing import TestClient
from sqlalchemy import Engine

from lineage.catalog.postgres import explain_postgres_error
from lineage.catalog.reader import UnreachableCatalogError
from lineage.catalog.trouble import (
    BUSY_SECONDS,
    BusyCatalogError,
    CatalogError,
    explain_sqlite_error,
)
from lineage.process.clock import system_clock
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.commandline import lineward

_UNFINISHED = "The request was not finished; `lineward audit` shows whether it began"
_WRITING = (
    "ack 3f2c9a7d10b45e86",
    "escalate 3f2c9a7d10b45e86",
    "suppress 3f2c9a7d10b45e86 --reason late --for 1h",
    "retire raw/orders --note gone",
    "act restart-role pipeline",
)


@pytest.fixture
def locked(embedded: Engine, tmp_path: Path) -> Iterator[Path]:
    """Return the data folder of a catalog whose write lock another process holds."""
    shop.fill(embedded)
    with closing(sqlite3.connect(tmp_path / "catalog.db", isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        yield tmp_path


def _errors(**variables: str) -> dict[str, str]:
    """Run all commands at once, since each waits for the lock, and return what they print."""
    with ThreadPoolExecutor(len(_WRITING)) as pool:
        run = pool.map(lambda line: lineward(*line.split(), **variables), _WRITING)
        done = dict(zip(_WRITING, run, strict=True))
    assert {line: each.returncode for line, each in done.items()} == dict.fromkeys(_WRITING, 1)
    return {line: each.stderr for line, each in done.items()}


def test_a_command_on_a_locked_catalog_ends_with_one_line(locked: Path):
    """Mutant: without the code of SQLite's lock each command ends with a traceback."""
    reason = (
        f"lineward: the catalog {locked}/catalog.db was locked by another process for over"
        f" {BUSY_SECONDS} s: try again; if it stays locked, stop `lineward up` and start it again."
    )
    assert _errors(LINEWARD_DATA_DIR=str(locked)) == dict.fromkeys(
        _WRITING, f"{reason} {_UNFINISHED}\n"
    )


def test_a_request_on_a_locked_catalog_gets_the_reason(locked: Path):
    """Answer 503. Mutant: 500 with "see the log of the service"."""
    settings = Settings(data_dir=locked)
    with TestClient(create_app(settings, system_clock), base_url="http://127.0.0.1") as client:
        answer = client.post("/api/v1/actions/restart-role?dry_run=true", json={"role": "service"})

    assert answer.status_code == 503
    assert "was locked by another process" in answer.json()["detail"]


@pytest.mark.postgres
def test_a_command_on_a_read_only_server_ends_with_one_line(databases):
    """Mutant: no message for PostgreSQL, which a traceback replaces."""
    catalog = databases.take()
    shop.fill(catalog)
    url = catalog.url.render_as_string(hide_password=False)
    read_only = {"LINEWARD_CATALOG_URL": url, "PGOPTIONS": "-c default_transaction_read_only=on"}

    for line, text in _errors(**read_only).items():
        begin = "lineward: LINEWARD_CATALOG_URL: PostgreSQL reports: cannot execute "
        assert text.startswith(begin), line
        assert text.endswith(f"in a read-only transaction. {_UNFINISHED}\n"), line


@pytest.mark.parametrize("line", ["incidents", "act restart-role pipeline", "ack 3f2c9a7d10b45e86"])
def test_each_command_names_the_setting_of_a_server_that_is_away(line: str):
    """Mutant: the text of the driver alone, as `lineward act` had it."""
    url = "postgresql+psycopg://nobody@127.0.0.1:1/none"
    done = lineward(*line.split(), LINEWARD_CATALOG_URL=url)

    begin = "lineward: LINEWARD_CATALOG_URL: the catalog cannot be reached: connection"
    assert done.stderr.startswith(begin)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_BUSY, BusyCatalogError),
        (sqlite3.SQLITE_BUSY_RECOVERY, BusyCatalogError),
        (sqlite3.SQLITE_PROTOCOL, CatalogError),
        (sqlite3.SQLITE_NOMEM, CatalogError),
        (sqlite3.SQLITE_ERROR, type(None)),
        (sqlite3.SQLITE_CONSTRAINT_UNIQUE, type(None)),
    ],
)
def test_an_invalid_statement_keeps_its_traceback(code: int, kind: type):
    """Name the catalog for every other code of SQLite."""
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code

    assert type(explain_sqlite_error(error, "/data/catalog.db")) is kind


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("25006", CatalogError),  # read-only
        ("53100", CatalogError),  # the disk is full
        ("57014", CatalogError),  # statement timeout
        ("55P03", CatalogError),  # lock timeout
        ("42501", CatalogError),  # no permission
        ("42703", type(None)),  # no such column
        ("23505", type(None)),  # not unique
    ],
)
def test_a_failure_of_the_server_is_named_by_its_code(state: str, kind: type):
    """Keep the traceback of an invalid statement here, too."""
    error = psycopg.errors.lookup(state)("as PostgreSQL says it")

    assert type(explain_postgres_error(error)) is kind


def test_a_connection_that_was_cut_is_a_server_that_is_away():
    """Use the class for which the setting is named."""
    error = psycopg.OperationalError("server closed the connection unexpectedly\n more")

    found = explain_postgres_error(error)
    assert isinstance(found, UnreachableCatalogError)
    assert str(found) == "server closed the connection unexpectedly"
