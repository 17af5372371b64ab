"""Damaged catalog files: every reader and writer reports one message."""

import os
import random
import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import delete

from lineage.catalog import trouble
from lineage.catalog.engine import catalog_url, open_catalog, write_transaction
from lineage.catalog.reader import open_reader
from lineage.catalog.tables import metadata
from lineage.catalog.trouble import (
    CatalogDiskError,
    DamagedCatalogError,
    is_damaged,
    translated_error,
)
from tests.service import shop
from tests.service.commandline import lineward

_PAGE = 4_096


def _rubbish(path):
    path.write_bytes(os.urandom(64 << 10))


def _text(path):
    path.write_text("this is no database\n" * 500)


def _damaged_pages(path):
    """Overwrite all but the first two pages, which hold the header and the schema's root."""
    chosen = random.Random(7)  # noqa: S311 - damage that is the same each time
    with path.open("r+b") as file:
        for page in range(2, path.stat().st_size // _PAGE):
            file.seek(page * _PAGE)
            file.write(chosen.randbytes(_PAGE))


def _cut(path):
    """Cut it like an interrupted copy."""
    os.truncate(path, path.stat().st_size // 3)


def _zeroed(path):
    """Leave it as a file system does after a crash."""
    with path.open("r+b") as file:
        file.seek(_PAGE)
        file.write(bytes(path.stat().st_size - _PAGE))


@pytest.fixture(params=[_rubbish, _text, _damaged_pages, _cut, _zeroed])
def damaged(request, embedded, tmp_path):
    """Create a catalog with a shop in it, damaged while no process had it open."""
    shop.fill(embedded)
    embedded.dispose()
    request.param(tmp_path / "catalog.db")
    return tmp_path


def test_damage_is_found(damaged):
    assert is_damaged(str(damaged / "catalog.db"))


def test_a_reader_reports_the_damage(damaged):
    with pytest.raises(DamagedCatalogError, match=r"catalog.db is damaged: .*restore"):
        _read_all(catalog_url(damaged))


def _read_all(url):
    with open_reader(url) as reader:
        for name in metadata.tables:
            reader.rows(f"SELECT * FROM {name}")  # noqa: S608 - our own tables


def test_a_writer_reports_the_damage(damaged):
    engine = open_catalog(catalog_url(damaged))
    with pytest.raises(DamagedCatalogError, match=r"catalog.db is damaged: .*restore"):
        _delete_all(engine)
    engine.dispose()


def _delete_all(engine):
    with write_transaction(engine) as connection:
        for table in metadata.tables.values():
            connection.execute(delete(table))


@pytest.mark.parametrize(
    "command",
    ["status", "datasets", "incidents", "slis", "why core/orders", "ack 3f2c9a7d10b45e86", "audit"],
)
def test_a_command_ends_with_one_sentence(damaged, command):
    done = lineward(*command.split(), LINEWARD_DATA_DIR=str(damaged))

    assert done.returncode == 1, done.stdout
    assert f"the catalog {damaged}/catalog.db is damaged: " in done.stderr
    assert "`lineward runbook restoring` prints how to restore it" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "code",
    [
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_WRITE,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
    ],
)
def test_a_full_disk_is_named_whatever_sqlite_calls_it(monkeypatch, code):
    """Report the disk for a "disk I/O error": SQLite cannot make a file that it needs to read."""
    problem = "the disk of /data is full (0.0 MiB free)"
    monkeypatch.setattr(trouble, "disk_problem", {Path("/data"): problem}.get)
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code

    assert (
        str(translated_error(error, "/data/catalog.db"))
        == f"the catalog /data/catalog.db: {problem}"
    )


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_CORRUPT, DamagedCatalogError),
        (sqlite3.SQLITE_CORRUPT_INDEX, DamagedCatalogError),
        (sqlite3.SQLITE_NOTADB, DamagedCatalogError),
        (sqlite3.SQLITE_FULL, CatalogDiskError),
        (sqlite3.SQLITE_IOERR_SHORT_READ, CatalogDiskError),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, CatalogDiskError),
        (sqlite3.SQLITE_READONLY_DIRECTORY, CatalogDiskError),
        (sqlite3.SQLITE_BUSY, type(None)),
        (sqlite3.SQLITE_ERROR, type(None)),
    ],
)
def test_sqlite_errors_are_sorted_by_code(code, kind):
    error = sqlite3.DatabaseError("as SQLite says it")
    error.sqlite_errorcode = code

    assert type(translated_error(error, "/data/catalog.db")) is kind
