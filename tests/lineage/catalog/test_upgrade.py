"""A catalog of the first release, with rows in every table, is upgraded without losing one."""

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
from lineage.catalog.engine import migrate, writing
from lineage.catalog.revision import (
    HEAD,
    KNOWN,
    NewerCatalogError,
    OlderCatalogError,
    require_current,
)
from lineage.keys import key
from service.app import create_app
from service.settings import Settings
from tests.service import shop
from tests.service.explorer import estate

_FIRST = "0001_the_catalog_of_the_first_release.py"
_FIRST_SHA256 = "43f44d5aa2b79de0abe8e5a8887e7871a8e60017ec3bff4f298611882218ffa5"
_MIGRATIONS = Path(engines.__file__).parent / "migrations"
_ROWS = 3


@pytest.fixture
def first(catalogs) -> Engine:
    """An empty catalog at the first release's revision, of either kind."""
    engine = catalogs()
    everything = MetaData()
    everything.reflect(engine)
    everything.drop_all(engine)
    migrate(engine, to="0001")
    return engine


def _reflected(engine: Engine) -> MetaData:
    metadata = MetaData()
    metadata.reflect(engine)
    metadata.remove(metadata.tables["alembic_version"])
    return metadata


def _value(column, row: int):
    """Something that this type takes, another for each row."""
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
    """Every row of the columns that these tables have, in one order."""
    with engine.connect() as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in metadata.sorted_tables
        }


def test_the_first_migration_is_frozen():
    """Catalogs of the first release have run it: a change would reach none of them."""
    content = (_MIGRATIONS / "versions" / _FIRST).read_bytes()

    assert hashlib.sha256(content).hexdigest() == _FIRST_SHA256


def test_the_known_revisions_are_those_of_the_migrations():
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)

    assert scripts.get_current_head() == HEAD
    assert {each.revision for each in scripts.walk_revisions()} == set(KNOWN)


def test_an_upgrade_keeps_every_row_of_every_table(first):
    """Three made-up rows a table, in the order of its references."""
    metadata = _reflected(first)
    with writing(first) as connection:
        for table in metadata.sorted_tables:
            connection.execute(insert(table), _rows(table))
    before = _all_rows(first, metadata)
    assert {len(rows) for rows in before.values()} == {_ROWS}

    migrate(first)

    assert _all_rows(first, metadata) == before
    require_current(_url(first))


def test_the_service_answers_on_an_upgraded_catalog(first, catalog):
    """An estate of the first release: pages and answers are those of a new catalog."""
    estate.fill(catalog)
    metadata = _reflected(first)
    with catalog.connect() as read, writing(first) as connection:
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


def _dbt_rows() -> dict[str, list[dict[str, object]]]:
    """A model `db.gold` of the root job `dbt-run`, as the releases before 0004 stored it."""
    up, down = key("pg", "raw"), key("pg", "gold")
    seen = {"first_seen_at": 1, "last_seen_at": 2}
    by_root = {"job_namespace": "dbt", "job_name": "dbt-run"}
    job_key = key("dbt", "dbt-run", "pg", "gold")
    edge = {"upstream_key": up, "downstream_key": down, "job_key": job_key}
    run = {
        "run_key": 1,
        "run_id": "m1",
        "job_namespace": "dbt",
        "job_name": "db.gold",
        "root_run_id": "d1",
        "root_job_namespace": "dbt",
        "root_job_name": "dbt-run",
        "parent_run_id": "d1",
        "integration": "DBT",
        "job_type": "MODEL",
        "first_event_at": 1,
        "last_event_at": 2,
        "is_history": False,
        "landed_at": 3,
    }
    flags = ("names_input", "is_reported", "is_streaming", "is_history")
    write = {"dataset_key": down, "root_run_id": "d1", "bucket": 0, "job_key": job_key, **by_root}
    touched = {"run_key": 1, "first_event_at": 1, "last_event_at": 2, "landed_at": 3}
    activity = {"last_job_namespace": "dbt", "last_job_name": "dbt-run", "learned_writes": 0}
    return {
        "dataset": [
            {
                "dataset_key": number,
                "canonical_key": number,
                "namespace": "pg",
                "name": name,
                **seen,
            }
            for number, name in ((up, "raw"), (down, "gold"))
        ],
        "run": [run],
        "run_io": [
            {**touched, "dataset_key": down, "direction": "write"}
            | {"has_statistics": False, "is_reported": True}
        ],
        "dataset_write": [write | dict.fromkeys(flags, True) | {"written_at": 2, "landed_at": 3}],
        "dataset_activity": [{"dataset_key": down, "writes": 1, **activity}],
        "edge": [edge | by_root | seen | {"runs": 1}],
        "edge_run": [edge | {"root_run_id": "d1", "seen_at": 2, "is_reported": True}],
    }


def test_an_upgrade_names_the_jobs_below_their_roots(first):
    """An edge that kept the name of `dbt run` would go stale: new runs name the model."""
    metadata = _reflected(first)
    with writing(first) as connection:
        for table, rows in _dbt_rows().items():
            connection.execute(insert(metadata.tables[table]), rows)

    migrate(first)

    leaf = ("dbt", "db.gold")
    job_key = key(*leaf, "pg", "gold")
    asked = {
        "SELECT leaf_job_namespace, leaf_job_name FROM run": leaf,
        "SELECT job_namespace, job_name, job_key FROM dataset_write": (*leaf, job_key),
        "SELECT last_job_namespace, last_job_name FROM dataset_activity": leaf,
        "SELECT job_namespace, job_name, job_key FROM edge": (*leaf, job_key),
        "SELECT job_key FROM edge_run": (job_key,),
    }
    with first.connect() as connection:
        found = {query: tuple(connection.execute(text(query)).one()) for query in asked}
    assert found == asked


def test_an_older_catalog_is_waited_for(first):
    with pytest.raises(OlderCatalogError, match=f"revision 0001, and this release needs {HEAD}"):
        require_current(_url(first))


@pytest.mark.parametrize("revision", ["0099", "0107", "abc123def456"])
def test_a_catalog_of_a_newer_release_is_neither_read_nor_migrated(catalog, revision):
    """A downgraded binary leaves it as it is."""
    with writing(catalog) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = :it"), {"it": revision})

    with pytest.raises(NewerCatalogError, match=f"revision {revision}"):
        require_current(_url(catalog))
    with pytest.raises(NewerCatalogError, match="upgraded by a newer release"):
        migrate(catalog)
    with catalog.connect() as connection:
        found = connection.scalar(text("SELECT version_num FROM alembic_version"))
    assert found == revision


def test_no_catalog_is_waited_for_too(tmp_path):
    with pytest.raises(OlderCatalogError, match="there is no catalog yet"):
        require_current(f"sqlite:///{tmp_path / 'catalog.db'}")


def _url(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)
