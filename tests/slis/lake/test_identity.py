"""Pipeline at a place that is not the lake of its catalog: it changes nothing."""

import shutil
from datetime import timedelta

import pytest
from sqlalchemy import delete, select

from lineage.catalog.meta_keys import LAKE_ID
from lineage.catalog.tables import lake_folder, meta, role_epoch
from slis.lake import retention
from slis.lake.identity import ID_FILE, LakeMismatchError, read_id
from slis.stream.landing import _waiting
from tests.slis.lake.lakes import NOON, event_row, lay, read_seqs, visible, write, writer_of

_LATER = NOON + timedelta(days=9_999)


@pytest.fixture
def writer(embedded, tmp_path):
    """Return the writer of a pipeline that has landed two events and hidden one of them."""
    found = writer_of(embedded, tmp_path)
    lay(found, event_row(1), event_row(2, NOON - timedelta(days=1)))
    retention.forget(found, NOON.date(), NOON)
    return found


@pytest.fixture
def unmount(writer, tmp_path):
    """Return a function that removes the lake, as an unmount does, and returns its folder."""

    def take_away():
        return shutil.move(writer.lake.folder, tmp_path / "volume")

    return take_away


def _manifest(engine):
    with engine.connect() as connection:
        return [connection.execute(select(table)).all() for table in (lake_folder, role_epoch)]


def _forget_id(engine):
    with engine.begin() as connection:
        connection.execute(delete(meta).where(meta.c.name == LAKE_ID))


@pytest.mark.parametrize("other", [None, "another", ""])
def test_start_at_a_wrong_place_changes_nothing_and_names_the_fix(
    writer, embedded, tmp_path, unmount, other
):
    """Fail with instructions where the volume is not mounted, or another lake is; then mount it."""
    before, lake_id = _manifest(embedded), writer.started.lake_id
    volume = unmount()
    if other is not None:
        writer.lake.folder.mkdir()
        (writer.lake.folder / ID_FILE).write_text(other)

    with pytest.raises(LakeMismatchError) as stopped:
        _waiting(lambda: writer_of(embedded, tmp_path).started)  # not taken for a passing failure

    message = str(stopped.value)
    assert all(part in message for part in (str(writer.lake.folder), lake_id, "LINEWARD_LAKE_URL"))
    assert len(message.splitlines()) == 1
    assert _manifest(embedded) == before
    shutil.rmtree(writer.lake.folder, ignore_errors=True)
    shutil.move(volume, writer.lake.folder)
    assert read_seqs(writer_of(embedded, tmp_path)) == [1]
    assert writer_of(embedded, tmp_path).started.lake_id == lake_id


def test_running_pipeline_deletes_nothing_once_its_lake_is_gone(writer, embedded, unmount):
    """Keep rows whose files were not deleted: they alone name the files."""
    before = _manifest(embedded)
    unmount()

    for remove in (retention.delete_hidden, retention.delete_unknown):
        with pytest.raises(LakeMismatchError, match=f"has no file {ID_FILE}"):
            remove(writer, _LATER)

    assert _manifest(embedded) == before


def test_operator_accepts_a_lost_lake_by_writing_its_id(writer, embedded, tmp_path, unmount):
    """Name id and file in the message: after that the start hides what is gone."""
    unmount()
    writer.lake.folder.mkdir()
    (writer.lake.folder / ID_FILE).write_text(f"{writer.started.lake_id}\n")

    again = writer_of(embedded, tmp_path)

    assert (again.started.epoch, visible(again)) == (2, [])


def test_new_catalog_takes_over_the_id_of_the_lake(writer, embedded, tmp_path):
    """Replace a catalog that was lost by an empty one."""
    _forget_id(embedded)
    with embedded.begin() as connection:
        connection.execute(delete(lake_folder))

    assert writer_of(embedded, tmp_path).started.lake_id == writer.started.lake_id


@pytest.mark.parametrize("is_mounted", [True, False])
def test_catalog_without_an_id_adopts_only_a_lake_that_has_its_folders(
    writer, embedded, tmp_path, unmount, is_mounted
):
    """Begin with a manifest that is older than the id."""
    (writer.lake.folder / ID_FILE).unlink()
    _forget_id(embedded)
    if not is_mounted:
        unmount()
        with pytest.raises(LakeMismatchError, match="none of the 1 batches"):
            _ = writer_of(embedded, tmp_path).started
        return

    again = writer_of(embedded, tmp_path)

    assert again.started.lake_id == read_id(again.lake) != writer.started.lake_id


def test_empty_lake_of_an_empty_catalog_may_move(embedded, tmp_path):
    """Accept the move while nothing is written, and reject it once a folder exists."""
    first = writer_of(embedded, tmp_path)
    lake_id = first.started.lake_id
    (first.lake.folder / ID_FILE).unlink()
    assert writer_of(embedded, tmp_path).started.lake_id == lake_id == read_id(first.lake)

    write(first, event_row(1))
    (first.lake.folder / ID_FILE).unlink()
    with pytest.raises(LakeMismatchError, match="has no file"):
        _ = writer_of(embedded, tmp_path).started
