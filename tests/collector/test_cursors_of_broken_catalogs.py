"""Pruning while the catalog cannot be read: it stops, and continues afterwards."""

import os

import pytest

from collector.high_water import NOT_READ
from collector.prune import read_or_nothing
from collector.settings import CollectorPlace


def _rubbish(path):
    path.write_bytes(os.urandom(65_536))


def _cut(path):
    os.truncate(path, path.stat().st_size // 4)


def _text(path):
    path.write_text("no database\n" * 1_000)


def _folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [_rubbish, _cut, _text, _folder])
def test_a_catalog_that_cannot_be_read_ends_no_thread(tmp_path, embedded, damage):
    """Let the thread that prunes ask again, and keep every event of the spool."""
    embedded.dispose()
    place = CollectorPlace(data_dir=tmp_path)
    assert read_or_nothing(place) == NOT_READ
    damage(tmp_path / "catalog.db")

    assert read_or_nothing(place) == NOT_READ
