"""Backup of the catalog while it is written, by the command of docs/operations.md."""

import os
import re
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from lineage.catalog.engine import catalog_url, open_catalog, write_transaction
from lineage.catalog.revision import require_current
from tests.suite.waiting import until

ROOT = Path(__file__).resolve().parents[3]
_INSERT = text("INSERT INTO meta VALUES (:name, 1)")
_COUNT = "SELECT count(*) FROM meta WHERE name LIKE 'pair-%'"


def _backup(data_dir: Path, copy: Path) -> str:
    """Run the block of the page, and return what it prints."""
    page = (ROOT / "docs" / "operations.md").read_text("utf-8")
    (block,) = re.findall(r"(?ms)^```sh\n(python3 .*?)^```", page)
    given = {"LINEWARD_DATA_DIR": str(data_dir), "BACKUP": str(copy)}
    return subprocess.run(
        ["bash", "-e", "-c", block],
        env={**os.environ, **given},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


@contextmanager
def _writing(catalog: Engine) -> Iterator[list[int]]:
    """Write pairs of rows, each pair in one transaction; yield a list that grows with them."""
    written: list[int] = []
    stopped = threading.Event()

    def write() -> None:
        while not stopped.is_set():
            with write_transaction(catalog) as connection:
                for half in "ab":
                    connection.execute(_INSERT, {"name": f"pair-{len(written)}-{half}"})
            written.append(1)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield written
    finally:
        stopped.set()
        thread.join()


def test_a_backup_while_the_catalog_is_written_has_whole_transactions(
    embedded: Engine, tmp_path: Path
):
    """Find each pair that was committed before, and start on the copy.

    Mutant: `cp` of `catalog.db` lacks the pairs that are only in `catalog.db-wal`.
    """
    copy = tmp_path / "restored" / "catalog.db"
    copy.parent.mkdir()
    with _writing(embedded) as written:
        until(lambda: len(written) > 20)
        before = len(written)
        assert _backup(tmp_path, copy) == "ok\n"
        until(lambda: len(written) > before + 20)

    with closing(sqlite3.connect(copy)) as restored:
        (found,) = restored.execute(_COUNT).fetchone()
    assert found % 2 == 0
    assert 2 * before <= found < 2 * len(written)
    require_current(catalog_url(copy.parent))
    engine = open_catalog(catalog_url(copy.parent))
    with write_transaction(engine) as connection:
        connection.execute(_INSERT, {"name": "after"})
    engine.dispose()


def test_a_backup_of_a_missing_catalog_fails_and_makes_none(tmp_path: Path):
    """Mutant: without `mode=ro` a wrong folder gets an empty catalog, and the copy is `ok`."""
    with pytest.raises(subprocess.CalledProcessError):
        _backup(tmp_path, tmp_path / "copy.db")

    assert not (tmp_path / "catalog.db").exists()


def test_files_of_a_snapshot_restore_the_writes_of_the_log(embedded: Engine, tmp_path: Path):
    """Copy the files as a VolumeSnapshot has them, with the line of the page on restoring."""
    page = (ROOT / "runbooks" / "pages" / "restoring.md").read_text("utf-8")
    (line,) = re.findall(r"(?m)^cp /backup/data.*$", page)
    snapshot, restored = tmp_path / "snapshot", tmp_path / "restored"
    for folder in (snapshot, restored):
        folder.mkdir()
    with _writing(embedded) as written:
        until(lambda: len(written) > 20)
    for end in ("", "-wal", "-shm"):  # nothing is checkpointed: a connection is still open
        shutil.copy(tmp_path / f"catalog.db{end}", snapshot)
    given = {**os.environ, "LINEWARD_DATA_DIR": str(restored)}
    command = line.replace("/backup/data", str(snapshot))
    subprocess.run(["bash", "-e", "-c", command], env=given, check=True)

    with closing(sqlite3.connect(restored / "catalog.db")) as copy:
        assert copy.execute(_COUNT).fetchone() == (2 * len(written),)
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
