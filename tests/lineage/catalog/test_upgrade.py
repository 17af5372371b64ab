"""Upgrade of a catalog of the first release, with rows in every table, without a loss."""

import hashlib
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from litestar.testing import TestClient
from sqlalchemy import (
    Boolean,
    Engine,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    insert,
    select,
    text,
)

from lineage.catalog import engine as engines
from lineage.catalog.engine import migrate, write_transaction
from lineage.catalog.revision import (
    HEAD,
    KNOWN_REVISIONS,
    NewerCatalogError,
    OlderCatalogError,
    require_current,
)
from lineage.names.keys import key
from service.api.app import create_app
from service.runtime.settings import Settings
from tests.service import shop
from tests.service.explorer import estate

_FIRST = "0001_the_catalog_of_the_first_release.py"
_FIRST_SHA256 = "43f44d5aa2b79de0abe8e5a8887e7871a8e60017ec3bff4f298611882218ffa5"
_MIGRATIONS = Path(engines.__file__).parent / "migrations"
_ROWS = 3


def _reflect(engine: Engine) -> MetaData:
    metadata = MetaData()
    metadata.reflect(engine)
    metadata.remove(metadata.tables["alembic_version"])
    return metadata


def _value(column, row: int):
    """Return a value of this type, another for each row."""
    kind = column.type
    if isinstance(kind, Boolean):
        return row % 2 == 0
    if isinstance(kind, Integer):
        return row + 1
    if isinstance(kind, Float):
        return row + 0.5
    if isinstance(kind, LargeBinary):
        return f"{column.name} {row}".encode()
    return f"{column.name} {row}"


def _rows(table: Table) -> list[dict[str, object]]:
    return [{c.name: _value(c, row) for c in table.columns} for row in range(_ROWS)]


def _all_rows(engine: Engine, metadata: MetaData) -> dict[str, list[tuple]]:
    """Return every row of these tables' columns, in one order."""
    with engine.connect() as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in metadata.sorted_tables
        }


def test_the_first_migration_is_frozen():
    """Compare with the frozen text: catalogs of the first release would not get a change."""
    content = (_MIGRATIONS / "versions" / _FIRST).read_bytes()

    assert hashlib.sha256(content).hexdigest() == _FIRST_SHA256


def test_the_known_revisions_are_those_of_the_migrations():
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)

    assert scripts.get_current_head() == HEAD
    assert {each.revision for each in scripts.walk_revisions()} == set(KNOWN_REVISIONS)


def test_an_upgrade_keeps_every_row_of_every_table(first):
    """Insert three made-up rows a table, in the order of its references."""
    metadata = _reflect(first)
    with write_transaction(first) as connection:
        for table in metadata.sorted_tables:
            connection.execute(insert(table), _rows(table))
    before = _all_rows(first, metadata)
    assert {len(rows) for rows in before.values()} == {_ROWS}

    migrate(first)

    assert _all_rows(first, metadata) == before
    require_current(_url(first))


def test_an_edge_without_a_run_keeps_the_time_of_its_declaration(first):
    """Keep the time of migration 0010: a JobEvent made the edge, and runs may follow."""
    migrate(first, to="0009")
    edge = _reflect(first).tables["edge"]
    declared, made = ({**_rows(edge)[0], "job_key": key, "runs": key} for key in (0, 1))
    with write_transaction(first) as connection:
        connection.execute(insert(edge), [declared, made])

    migrate(first, to="0010")

    upgraded = _reflect(first).tables["edge"]
    with first.connect() as connection:
        found = connection.execute(select(upgraded.c.runs, upgraded.c.declared_at)).all()
    assert sorted(found) == [(0, declared["last_seen_at"]), (1, None)]


def test_the_service_answers_on_an_upgraded_catalog(first, catalog):
    """Compare pages and answers of an upgraded estate with those of a new catalog."""
    estate.fill(catalog)
    metadata = _reflect(first)
    with catalog.connect() as read, write_transaction(first) as connection:
        for table in metadata.sorted_tables:
            rows = [dict(row) for row in read.execute(select(table)).mappings()]
            if rows:
                connection.execute(insert(table), rows)
    migrate(first)

    paths = ("/", "/datasets", "/incidents", "/api/v1/datasets", "/api/v1/incidents")
    assert _answers(first, paths) == _answers(catalog, paths)
    assert _answers(first, ["/api/v1/datasets"])[0].count(shop.NAMESPACE) >= 1


def _answers(engine: Engine, paths) -> list[str]:
    app = create_app(Settings(catalog_url=_url(engine)), lambda: estate.NOW)
    with TestClient(app, base_url="http://127.0.0.1") as client:
        answers = [client.get(path) for path in paths]
    assert {answer.status_code for answer in answers} == {200}
    return [answer.text for answer in answers]


_SEEN = {"first_seen_at": 1, "last_seen_at": 9}
_BY_ROOT = {"job_namespace": "dbt", "job_name": "dbt-run"}
_HOUR = 3_600_000_000
# Landed 8 days after the first hour: no event withdraws a write of that hour.
_BATCH = {"query_id": "spool", "batch_id": 1, "after_seq": 0, "last_seq": 1, "events": 1}
_BATCH |= {"duplicates": 0, "history": 0, "landed_at": (8 * 24 + 1) * _HOUR}
_DATASETS = {name: key("pg", name) for name in ("raw_eu", "raw_us", "gold")}


def _model(number: int, part: str) -> dict[str, list[dict[str, object]]]:
    """Return the rows of a run of the model `load_<part>` below `dbt-run`, as before 0004."""
    up, down = _DATASETS[f"raw_{part}"], _DATASETS["gold"]
    root = {"root_run_id": f"d{number}"}
    edge = {"upstream_key": up, "downstream_key": down}
    edge["job_key"] = key("dbt", "dbt-run", "pg", "gold")
    job = {"job_namespace": "dbt", "job_name": f"load_{part}"}
    below = {"root_job_namespace": "dbt", "root_job_name": "dbt-run", "parent_run_id": f"d{number}"}
    model = {"run_id": f"m{number}", "integration": "DBT", "job_type": "MODEL"}
    at = {"first_event_at": number, "last_event_at": number, "completed_at": number}
    run = {"run_key": number, **model, **job, **root, **below, **at}
    touched = {"run_key": number, "first_event_at": 1, "last_event_at": 2, "landed_at": 3}
    touched |= {"has_statistics": False, "is_reported": True}
    flags = dict.fromkeys(("names_input", "is_reported", "is_streaming", "is_history"), True)
    write = {"dataset_key": down, "bucket": 0, "landed_at": 3, "written_at": number * _HOUR + 5}
    return {
        "run": [run | {"is_history": False, "landed_at": 3}],
        "run_io": [
            {**touched, "dataset_key": up, "direction": "read"},
            {**touched, "dataset_key": down, "direction": "write"},
        ],
        "dataset_write": [write | root | flags | _BY_ROOT | {"job_key": edge["job_key"]}],
        "edge": [edge | _BY_ROOT | _SEEN | {"runs": 1}],
        "edge_run": [edge | root | {"seen_at": number, "is_reported": True}],
    }


def test_an_upgrade_names_the_jobs_below_their_roots(first):
    """Give each model its own writes and edges: an edge of `dbt run` would go stale.

    Set the hour's key for recent writes only: all of them would take minutes.
    """
    metadata = _reflect(first)
    last = {"last_job_namespace": "dbt", "last_job_name": "dbt-run", "writes": 2}
    last |= {"last_write_root_run_id": "d2", "learned_writes": 0}
    datasets = [
        {"dataset_key": number, "canonical_key": number, "namespace": "pg", "name": name, **_SEEN}
        for name, number in _DATASETS.items()
    ]
    tables = [
        {"dataset": datasets, "dataset_activity": [{"dataset_key": _DATASETS["gold"], **last}]},
        *(_model(number, part) for number, part in ((1, "eu"), (2, "us"))),
        # A run of `dbt-run` itself, from before there were models.
        {table: _model(0, "eu")[table][:1] for table in ("edge_run", "dataset_write")},
        {"batch": [_BATCH]},
    ]
    with write_transaction(first) as connection:
        for each in tables:
            for table, rows in each.items():
                connection.execute(insert(metadata.tables[table]), rows)

    migrate(first)

    keys = {part: key("dbt", f"load_{part}", "pg", "gold") for part in ("eu", "us")}
    old = key("dbt", "dbt-run", "pg", "gold")
    named = {
        "SELECT leaf_job_name FROM run": [("load_eu",), ("load_us",)],
        "SELECT job_name, root_run_id, job_key FROM dataset_write": [
            *(("dbt-run", "d0", old), ("load_eu", "d1", keys["eu"]), ("load_us", "d2", keys["us"])),
        ],
        "SELECT root_run_id, bucket FROM dataset_write": [
            *(("d0", 0), ("d1", _HOUR + 1), ("d2", 2 * _HOUR + 1)),
        ],
        "SELECT last_job_name FROM dataset_activity": [("load_us",)],
        "SELECT job_name, upstream_key, job_key, runs FROM edge": [
            ("dbt-run", _DATASETS["raw_eu"], old, 1),
            ("load_eu", _DATASETS["raw_eu"], keys["eu"], 1),
            ("load_us", _DATASETS["raw_us"], keys["us"], 1),
        ],
        "SELECT root_run_id, job_key FROM edge_run": [
            *(("d0", old), ("d1", keys["eu"]), ("d2", keys["us"])),
        ],
    }
    with first.connect() as connection:
        found = {
            query: sorted(tuple(row) for row in connection.execute(text(query))) for query in named
        }
    assert found == named


def test_roles_wait_for_an_older_catalog(first):
    with pytest.raises(OlderCatalogError, match=f"revision 0001, and this release needs {HEAD}"):
        require_current(_url(first))


@pytest.mark.parametrize("revision", ["0099", "0107", "abc123def456"])
def test_a_catalog_of_a_newer_release_is_neither_read_nor_migrated(catalog, revision):
    """Leave it as it is with a downgraded binary."""
    with write_transaction(catalog) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})

    with pytest.raises(NewerCatalogError, match=f"revision {revision}"):
        require_current(_url(catalog))
    with pytest.raises(NewerCatalogError, match="upgraded by a newer release"):
        migrate(catalog)
    with catalog.connect() as connection:
        found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    assert found == revision


def test_roles_wait_for_a_missing_catalog(tmp_path):
    with pytest.raises(OlderCatalogError, match="there is no catalog yet"):
        require_current(f"sqlite:///{tmp_path / 'catalog.db'}")


def _url(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)
