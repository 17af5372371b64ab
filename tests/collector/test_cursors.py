"""Positions of the readers, also while the catalog cannot be read: pruning stops, and continues."""

import os

import pytest
from sqlalchemy import insert

from collector.cursors import NOT_READ, read_cursors, read_or_nothing
from collector.settings import CollectorLocation
from lineage.catalog.tables import reader_cursor

MARQUEZ = {"marquez_url": "http://127.0.0.1:5000"}


def _place(catalog, settings):
    return CollectorLocation(
        catalog_url=catalog.url.render_as_string(hide_password=False), **settings
    )


def _write(catalog, **cursors: int):
    with catalog.begin() as connection:
        rows = [{"reader": reader, "seq": seq} for reader, seq in cursors.items()]
        connection.execute(insert(reader_cursor), rows)


@pytest.mark.parametrize(
    ("settings", "lowest"), [(MARQUEZ, 4), ({}, 9), (MARQUEZ | {"marquez_forward": False}, 9)]
)
def test_a_forwarder_holds_events_only_while_it_is_on(catalog, settings, lowest):
    """Ignore the old position of a forwarder that is off, which would fill the spool."""
    _write(catalog, pipeline=9, marquez=4)

    assert read_cursors(_place(catalog, settings)) == (lowest, 9, 9)


def test_a_forwarder_that_has_not_begun_holds_all_events(catalog):
    """Keep the events from before its first start."""
    _write(catalog, pipeline=9)

    assert read_cursors(_place(catalog, MARQUEZ)) == (0, 9, 9)


def test_a_catalog_without_a_reader_has_no_cursors(catalog, tmp_path):
    """Return None also for a missing catalog, so that nothing is pruned by guess."""
    assert read_cursors(_place(catalog, {})) is None
    assert read_cursors(CollectorLocation(data_dir=tmp_path / "none")) is None


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
    place = CollectorLocation(data_dir=tmp_path)
    assert read_or_nothing(place) == NOT_READ
    damage(tmp_path / "catalog.db")

    assert read_or_nothing(place) == NOT_READ
