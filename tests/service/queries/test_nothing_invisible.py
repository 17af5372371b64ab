"""Columns of the catalog, each of which is shown or has a reason.

Each answer, page and command runs, and SQLite reports which columns it read. All columns that are
declared as shown must have been read.
"""

import sqlite3
from collections import defaultdict

import pytest
from litestar.testing import TestClient
from prometheus_client import CollectorRegistry, generate_latest
from sqlalchemy import Engine, insert
from typer.testing import CliRunner

from lineage.catalog import reader, tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.meta_keys import EVIDENCE_LISTED_AT, EVIDENCE_UNLISTED
from service.api.app import create_app
from service.cli.main import app as commands
from service.exporter.metrics import CatalogCollector
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.explorer import estate
from tests.service.shown import NOT_SHOWN, SHOWN

_CORE = "dataset=core/orders"
_AT = "at=2026-11-20T02:30:00Z"
_ASKED = {
    "/dataset": [f"/dataset?{_CORE}"],
    "/incidents/{incident_id:str}": [f"/incidents/{estate.INCIDENT}"],
    "/api/v1/incidents/{incident_id:str}": [f"/api/v1/incidents/{estate.INCIDENT}"],
    "/api/v1/runs/{run_id:str}": [f"/api/v1/runs/{shop.RUN_ID}"],
    "/api/v1/lineage": [
        f"/api/v1/lineage?{_CORE}",
        f"/api/v1/lineage?{_CORE}&{_AT}",
        f"/api/v1/lineage?nodeId=dataset:{shop.NAMESPACE}:core/orders",
    ],
    "/api/v1/column-lineage": [f"/api/v1/column-lineage?{_CORE}&column=id"],
    "/api/v1/suppressions": ["/api/v1/suppressions?ended=true"],
    "/api/v1/set-aside-events": ["/api/v1/set-aside-events?all=true"],
    **{
        path: [f"{path}?{_CORE}"]
        for path in (
            *("/api/v1/dataset", "/api/v1/history", "/api/v1/columns", "/api/v1/runs"),
            "/api/v1/impact",
        )
    },
}
_ARGUMENTS = {"lineward marquez resend": ["--bodies"]}
Reads = dict[str, set[tuple[str, str]]]  # (table, column), by what is asked


def _split(declared: dict[str, dict[str, str]], *, names_first: bool) -> list[tuple[str, str]]:
    """Return (table, column) for each column of a list."""
    return [
        (table, column)
        for table, entries in declared.items()
        for key, value in entries.items()
        for column in (key if names_first else value).split()
    ]


def _columns() -> set[tuple[str, str]]:
    named = {(t.name, c.name) for t in tables.metadata.tables.values() for c in t.columns}
    return {(table, column) for table, column in named if not column.endswith("_key")}


def test_every_column_is_shown_or_has_a_reason():
    """Fail for a new column without an entry, and for an entry without a column."""
    shown = set(_split(SHOWN, names_first=False))
    not_shown = _split(NOT_SHOWN, names_first=True)

    assert sorted(_columns() - shown - set(not_shown)) == []
    assert sorted((shown | set(not_shown)) - _columns()) == []
    assert sorted(shown & set(not_shown)) == []
    assert len(set(not_shown)) == len(not_shown)


@pytest.fixture
def reads(embedded: Engine, monkeypatch: pytest.MonkeyPatch) -> Reads:
    """Collect what each answer, page and command reads of a catalog with a row in each table."""
    estate.fill(embedded)
    estate.set_events_aside(embedded)
    _add_others(embedded)
    found: Reads = defaultdict(set)
    asked = [""]

    def note(action: int, table: str | None, column: str | None, *_: object) -> int:
        if action == sqlite3.SQLITE_READ:
            found[asked[0]].add((str(table), str(column)))
        return sqlite3.SQLITE_OK

    connect = reader._connected  # noqa: SLF001 - the one place where questions connect

    def connected(uri: str) -> sqlite3.Connection:
        connection = connect(uri)
        connection.set_authorizer(note)
        return connection

    monkeypatch.setattr(reader, "_connected", connected)
    for one in sorted({place for places in SHOWN.values() for place in places}):
        asked[0] = one
        _ask(one, embedded, monkeypatch)
    return found


def _ask(place: str, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    url = engine.url.render_as_string(hide_password=False)
    settings = Settings(catalog_url=url)
    if place == "/metrics":
        registry = CollectorRegistry()
        collector = CatalogCollector(settings, lambda: estate.NOW)
        collector.renew_cache()
        registry.register(collector)
        generate_latest(registry)
    elif place.startswith("lineward "):
        monkeypatch.setenv("LINEWARD_CATALOG_URL", url)
        words = [*place.split()[1:], *_ARGUMENTS.get(place, [])]
        assert CliRunner().invoke(commands, words).exit_code == 0, place
    else:
        app = create_app(settings, lambda: estate.NOW)
        with TestClient(app, base_url="http://127.0.0.1") as client:
            for path in _ASKED.get(place, [place]):
                assert client.get(path).status_code == 200, path


def _add_others(engine: Engine) -> None:
    """Insert what `marquez status` and the metrics of event logs look for first."""
    passes = {EVIDENCE_LISTED_AT: str(shop.at(1)), EVIDENCE_UNLISTED: "0"}
    counts = dict.fromkeys(("sampled_ours", "missing_there", "sampled_theirs", "missing_here"), 1)
    with write_transaction(engine) as connection:
        connection.execute(insert(tables.marquez_comparison), {"at": shop.at(1), **counts})
        connection.execute(insert(tables.reader_cursor), {"reader": "marquez", "seq": 1})
        rows = [{"name": name, "value": value} for name, value in passes.items()]
        connection.execute(insert(tables.meta), rows)


def test_columns_declared_as_shown_are_read(reads):
    """Read each column by the answer, page or command that the list names."""
    unread = [
        (place, table, column)
        for table, places in SHOWN.items()
        for place, columns in places.items()
        for column in columns.split()
        if (table, column) not in reads[place]
    ]

    assert unread == []
