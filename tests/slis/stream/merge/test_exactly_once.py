"""Exactly once: repeats, replays, lost checkpoints and restored copies."""

from unittest.mock import Mock

import pytest

from lineage.catalog import upsert
from lineage.catalog.epochs import StaleEpochError
from lineage.catalog.meta_keys import (
    LAKE_ID,
    LAKE_OWNER,
    LOG_LANDED,
    LOG_RESTORING,
    LOG_TOPIC_ID,
)
from lineage.catalog.tables import metadata
from slis.settings import SharedPaths
from slis.stream import batch
from slis.stream.landing import BatchLanding
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.merge.merge import LogRange, RangeMismatchError
from tests.slis.lake.lakes import read_seqs, writer_of
from tests.slis.stream.spools import rows, run_event, spool, table, work_off

_WITHOUT_CLOCK = {
    "landed_at",
    "last_write_landed_at",
    "query_id",
    "batch_id",
    "after_seq",
    "last_seq",
}


# Columns that depend on the batch and on the process. The lake is compared by its events.
_OF_THE_LAKE = ("lake_folder", "role_epoch")


def contents(catalog, *, but=("batch",)):
    """Return every row of the catalog, without the landing times."""
    found = {}
    with catalog.connect() as connection:
        for table in metadata.sorted_tables:
            columns = [column for column in table.c if column.name not in _WITHOUT_CLOCK]
            if table.name not in {*but, *_OF_THE_LAKE}:
                query = table.select().with_only_columns(*columns)
                if table.name == "meta":
                    named = table.c.name
                    query = query.where(named.not_in([LAKE_ID, LAKE_OWNER]))
                    for of_a_log in (LOG_TOPIC_ID, LOG_LANDED, LOG_RESTORING):
                        query = query.where(~named.startswith(of_a_log))
                found[table.name] = sorted(map(repr, connection.execute(query)))
    return found


def triple(at, number):
    """Return START, RUNNING and COMPLETE of one run."""
    return [
        run_event(
            kind,
            at(8, number),
            run=f"r{number}",
            inputs=["in"],
            outputs=["out"],
            root=(f"a{number}", "app"),
        )
        for kind in ("START", "RUNNING", "COMPLETE")
    ]


def test_a_repeated_event_is_counted_once(lander, catalog, at):
    """Send other bytes, as a sender does that serialises again.

    The identity is run, type, time, job and datasets.
    """
    event = run_event("COMPLETE", at(8), inputs=["a", "b"], outputs=["out"])
    reordered = dict(reversed(event.items())) | {"inputs": event["inputs"][::-1]}

    first = lander.land(event, reordered)
    second = lander.land(reordered)

    assert (first.duplicates, second.duplicates) == (1, 1)
    assert rows(catalog, "SELECT count(*) FROM event") == [(1,)]


def test_without_the_fold_on_conflict_a_repeat_fails(lander, at, monkeypatch):
    """Run the mutant: only the upserts make repeats harmless."""
    forgetful = lambda insert, _keys, _changes: insert  # noqa: E731 - a line of the mutant
    monkeypatch.setattr(upsert, "_folding", forgetful)
    build_again = upsert._built.__wrapped__  # noqa: SLF001 - and kept for no other test
    monkeypatch.setattr(upsert, "_built", build_again)
    event = run_event("COMPLETE", at(8), outputs=["out"])
    lander.land(event)

    with pytest.raises(Exception, match=r"(?i)unique"):
        lander.land(event)


def test_a_replayed_batch_leaves_no_trace(lander, catalog, at):
    """Kill between the commits of catalog and checkpoint: the repeated batch changes nothing."""
    lander.land(*triple(at, 1))
    before = contents(catalog, but=())

    repeat = LogRange("checkpoint-1", 0, 0, 3)
    replay = lander.batches.land(table(triple(at, 1), lander.now), repeat)

    assert replay.is_repeat
    assert contents(catalog, but=()) == before


@pytest.mark.parametrize("after_seq", [1, 7], ids=["overlaps", "skips"])
def test_a_range_that_does_not_follow_stops_with_instructions(lander, catalog, at, after_seq):
    """Stop: continuing would double the events 2 and 3, or skip 4 to 7."""
    lander.land(*triple(at, 1))
    before = contents(catalog, but=())

    with pytest.raises(
        RangeMismatchError, match=r"the catalog ends at 3 .* works on from where the catalog ends"
    ):
        lander.batches.land(
            table(triple(at, 2), lander.now, after_seq=after_seq),
            LogRange("checkpoint-1", 1, after_seq, after_seq + 3),
        )
    assert contents(catalog, but=()) == before


def test_batches_continue_where_the_catalog_ends(catalog, tmp_path, at):
    """Skip and double nothing with a second pipeline, or after a restart."""
    events = [event for number in range(4) for event in triple(at, number)]
    spool(tmp_path / "spool.db", events[:7], received_at=at(12))
    work_off(catalog, tmp_path, at(12), max_rows=4)
    spool(tmp_path / "spool.db", events[7:], received_at=at(12))

    work_off(catalog, tmp_path, at(12), max_rows=4)

    ranges = "SELECT after_seq, last_seq, events, duplicates FROM batch ORDER BY 1"
    assert rows(catalog, ranges) == [(0, 4, 4, 0), (4, 7, 3, 0), (7, 11, 4, 0), (11, 12, 1, 0)]
    assert rows(catalog, "SELECT count(*) FROM run") == [(4,)]
    visible = "SELECT sum(events) FROM lake_folder WHERE deleted_at IS NULL"
    assert rows(catalog, visible) == [(12,)]


def test_a_batch_that_failed_behind_its_files_leaves_nothing_in_the_lake(lander, at, monkeypatch):
    """Write the files, fail before the commit: the next batch holds fewer events."""
    works = batch.merge
    monkeypatch.setattr(batch, "merge", Mock(side_effect=OSError(5, "Input/output error")))
    with pytest.raises(OSError, match="Input/output"):
        lander.land(*triple(at, 1))
    monkeypatch.setattr(batch, "merge", works)
    lander.seq, folder = 0, lander.writer.lake.folder
    assert len(list(folder.glob("*-batch-*"))) == 1

    lander.land(*triple(at, 1)[:2])

    assert read_seqs(lander.writer) == [1, 2]
    [left] = folder.glob("*-batch-*")
    assert f"-batch-{1:020}-{2:020}-" in left.name


@pytest.mark.postgres_nightly("its statements are those of each batch")
def test_a_replaced_pipeline_lands_nothing_when_it_comes_back(catalog, tmp_path, at):
    """Land a batch with a second pipeline meanwhile: it has no rows or folders of the first."""
    place = SharedPaths(data_dir=tmp_path)
    spool(place.spool, triple(at, 0), received_at=at(12))
    given = {"limits": BatchLimits(3, 1 << 20), "clock": lambda: at(12)}
    dead, successor = (BatchLanding(catalog, place, **given) for _ in range(2))
    assert dead.step()
    spool(place.spool, [*triple(at, 1), *triple(at, 2)], received_at=at(12))
    assert successor.step()
    before = contents(catalog, but=())

    with pytest.raises(StaleEpochError):
        dead.step()

    assert contents(catalog, but=()) == before
    assert read_seqs(writer_of(catalog, tmp_path)) == [1, 2, 3, 4, 5, 6]
