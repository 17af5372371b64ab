"""What `lineward status` says while not everything is there yet."""

import sqlite3
from contextlib import closing
from pathlib import Path

from lineage.clock import system_clock
from service.answers.status import status
from service.settings import Settings


def test_a_spool_without_its_tables_is_not_there_yet(tmp_path: Path):
    """The collector makes the file a moment before what is in it: whoever asks then is answered."""
    with closing(sqlite3.connect(tmp_path / "spool.db")) as begun:
        begun.execute("PRAGMA journal_mode=WAL")

    found = status(Settings(data_dir=tmp_path), system_clock())

    assert found.collector is None
    assert found.partial_reason == "there is no spool and no catalog yet"
