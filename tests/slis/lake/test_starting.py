"""Start of a pipeline: it brings the manifest into line with the lake."""

from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Table, delete, insert, select, update

from lineage.catalog.tables import lake_folder, meta, reader_cursor, role_epoch
from lineage.process.clock import to_micros
from slis.lake import compaction, reconciling, retention
from slis.lake.listing import LakeBatch, list_names
from slis.lake.names import BATCH, COMPACTED, make_name
from tests.slis.lake.lakes import NOON, event_row, lay, read_seqs, visible, write, writer_of

_DAY = timedelta(days=1)


def _lay_old(folder, name, *seqs: int, day="2026-11-21"):
    """Write a folder as an older release did: no epoch, no rows beside it."""
    path = folder / "lake" / name / f"event_date={day}"
    path.mkdir(parents=True)
    columns = [event_row(seq) | {"event_time": None} for seq in seqs]
    table = pa.Table.from_pylist(columns).drop_columns(["event_date"])
    for column in ("received_at", "event_time"):
        place = table.column_names.index(column)
        cast = table[column].cast(pa.timestamp("ns"))
        table = table.set_column(place, column, cast)
    pq.write_table(table, path / "part-0.parquet", use_deprecated_int96_timestamps=True)


def _set_cursor(engine, seq):
    with engine.begin() as connection:
        connection.execute(insert(reader_cursor).values(reader="pipeline", seq=seq))


def _copy(engine, *tables: Table):
    with engine.connect() as connection:
        return {table: connection.execute(select(table)).mappings().all() for table in tables}


def _restore(engine, copied):
    with engine.begin() as connection:
        for table, rows in copied.items():
            connection.execute(delete(table))
            if rows:
                connection.execute(insert(table), [dict(row) for row in rows])


def test_folders_of_an_older_release_are_taken_over_once(embedded, tmp_path):
    """Take each committed event once: a compacted folder covers others, one is unfinished."""
    _lay_old(tmp_path, f"batch-{1:020}-{2:020}", 1, 2)
    _lay_old(tmp_path, f"batch-{3:020}-{4:020}", 3, 4)
    _lay_old(tmp_path, f"compacted-{1:020}-{4:020}", 1, 2, 3, 4)
    _lay_old(tmp_path, f"_unfinished-{1:020}-{4:020}", 1, 2)
    _lay_old(tmp_path, f"batch-{5:020}-{6:020}", 5, 6, day="__HIVE_DEFAULT_PARTITION__")
    _lay_old(tmp_path, f"batch-{7:020}-{8:020}", 7, 8)
    _set_cursor(embedded, 6)

    writer = writer_of(embedded, tmp_path)

    assert writer.started.epoch == 1
    assert read_seqs(writer) == [1, 2, 3, 4, 5, 6]
    assert {folder.event_date for folder in visible(writer)} == {"2026-11-21"}
    lay(writer, event_row(7))
    assert writer_of(embedded, tmp_path).started.epoch == 2
    assert read_seqs(writer) == [1, 2, 3, 4, 5, 6, 7]
    assert compaction.compact(writer_of(embedded, tmp_path), to_micros(NOON))
    assert read_seqs(writer) == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("deleted", [0, 1, 2])
def test_a_catalog_from_before_a_compaction_finds_the_new_folder(
    embedded, tmp_path, monkeypatch, deleted
):
    """Delete all, some or none of its own folders: the compacted one takes their place."""
    writer = writer_of(embedded, tmp_path)
    lay(writer, event_row(1), event_row(2, NOON - _DAY))
    lay(writer, event_row(3))
    copied = _copy(embedded, lake_folder, role_epoch, reader_cursor, meta)
    second = writer_of(embedded, tmp_path)
    lay(second, event_row(4))
    compaction.compact(second, to_micros(NOON))
    monkeypatch.setattr(retention, "_MOST", deleted)
    retention.delete_hidden(second, NOON + _DAY)
    _restore(embedded, copied)

    third = writer_of(embedded, tmp_path)

    assert third.started.epoch == 3  # above that of the files: no name comes twice
    assert read_seqs(third) == [1, 2, 3]  # the last one lands again


def test_a_start_takes_over_nothing_that_was_not_committed(embedded, tmp_path):
    """Leave a batch out that was killed before its commit."""
    writer = writer_of(embedded, tmp_path)
    lay(writer, event_row(1))
    write(writer, event_row(2))
    (writer.lake.folder / "notes").mkdir()

    again = writer_of(embedded, tmp_path)

    assert again.started.epoch == 2
    assert read_seqs(again) == [1]
    assert len(list_names(again.lake)) == 2


def test_two_pipelines_that_start_at_once_have_two_epochs(embedded, tmp_path):
    """Let the one that begins last write."""
    one, other = (writer_of(embedded, tmp_path) for _ in range(2))

    assert (one.started.epoch, other.started.epoch) == (1, 2)
    assert one.started.owner == other.started.owner


def test_days_deleted_by_retention_stay_deleted(embedded, tmp_path):
    """Restore a catalog beside a compacted folder of which one day is gone."""
    writer = writer_of(embedded, tmp_path)
    lay(writer, event_row(1, NOON - _DAY))
    lay(writer, event_row(2))
    copied = _copy(embedded, lake_folder, role_epoch, reader_cursor, meta)
    compaction.compact(writer, to_micros(NOON))
    retention.forget(writer, NOON.date(), NOON)
    retention.delete_hidden(writer, NOON + _DAY)
    _restore(embedded, copied)
    with embedded.begin() as connection:
        connection.execute(update(lake_folder).values(epoch=1))

    assert read_seqs(_start(embedded, tmp_path)) == [2]


def _start(engine, folder):
    writer = writer_of(engine, folder)
    _ = writer.started
    return writer


def test_start_shows_hidden_folders_again_where_the_compacted_one_is_lost(embedded, tmp_path):
    """Delete the new files, as a power cut does, while the old ones wait for their deletion."""
    writer = writer_of(embedded, tmp_path)
    lay(writer, event_row(1, NOON - _DAY))
    lay(writer, event_row(2))
    before = visible(writer)
    compaction.compact(writer, to_micros(NOON))
    writer.lake.delete(visible(writer)[0].batch)

    again = _start(embedded, tmp_path)

    assert visible(again) == before
    retention.delete_hidden(again, NOON + _DAY)
    assert read_seqs(again) == [1, 2]


def test_start_does_not_show_days_again_that_retention_hid(embedded, tmp_path):
    """Keep the files of the hidden day while another folder is lost."""
    writer = writer_of(embedded, tmp_path)
    lay(writer, event_row(1, NOON - _DAY))
    lay(writer, event_row(2))
    lay(writer, event_row(3))
    retention.forget(writer, NOON.date(), NOON)
    writer.lake.delete(visible(writer)[1].batch)

    assert read_seqs(_start(embedded, tmp_path)) == [2]


@pytest.mark.parametrize("count", [1_000, 2_000])
def test_no_batch_is_compared_with_all_others(monkeypatch, count):
    """Count comparisons for the thousands of batches of a busy day: that took 20 minutes once."""
    names = {"epoch": 1, "owner": "00000000"}
    batches = [LakeBatch(make_name(BATCH, n, n, **names), ()) for n in range(1, count + 1)]
    compacted = LakeBatch(make_name(COMPACTED, 1, count // 2, **names), ())
    chosen, compared = reconciling._Chosen(count), []  # noqa: SLF001 - what a start goes through
    works = chosen._covers  # noqa: SLF001
    monkeypatch.setattr(chosen, "_covers", lambda *two: compared.append(1) or works(*two))

    chosen.add(batches)
    chosen.add([compacted])

    assert chosen.batches == batches  # the compacted one has no event that they lack
    chosen.add([LakeBatch(make_name(COMPACTED, 0, count // 2, **names), ())])
    assert len(chosen.batches) == count // 2 + 1
    assert len(compared) <= count
