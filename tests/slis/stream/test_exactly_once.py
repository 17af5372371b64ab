"""Exactly once: repeats, replays, lost checkpoints and restored copies."""

from pathlib import Path

import pytest
from spools import frame, rows, run_event, spool, work_off

from lineage.catalog import upsert
from lineage.catalog.tables import metadata
from slis.stream import lake
from slis.stream.merge import RangeMismatchError

_WITHOUT_CLOCK = {
    "landed_at",
    "last_write_landed_at",
    "query_id",
    "batch_id",
    "after_seq",
    "last_seq",
}


def contents(catalog, *, but=("batch",)):
    """Every row of the catalog, without the instants of landing."""
    found = {}
    with catalog.connect() as connection:
        for table in metadata.sorted_tables:
            columns = [column for column in table.c if column.name not in _WITHOUT_CLOCK]
            if table.name not in but:
                found[table.name] = sorted(
                    map(repr, connection.execute(table.select().with_only_columns(*columns)))
                )
    return found


def triple(at, number):
    """START, RUNNING and COMPLETE of one run."""
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
    """A sender that serialises anew sends other bytes.

    The identity is run, type, time, job and datasets.
    """
    event = run_event("COMPLETE", at(8), inputs=["a", "b"], outputs=["out"])
    reordered = dict(reversed(event.items())) | {"inputs": event["inputs"][::-1]}

    first = lander.land(event, reordered)
    second = lander.land(reordered)

    assert (first.duplicates, second.duplicates) == (1, 1)
    assert rows(catalog, "SELECT count(*) FROM event") == [(1,)]


def test_without_the_fold_on_conflict_a_repeat_is_refused(lander, at, monkeypatch):
    """A mutant: it is the upserts that make repeats harmless."""
    forgetful = lambda insert, _keys, _changes: insert  # noqa: E731 - a line of the mutant
    monkeypatch.setattr(upsert, "_folding", forgetful)
    built_anew = upsert._built.__wrapped__  # noqa: SLF001 - and kept for no other test
    monkeypatch.setattr(upsert, "_built", built_anew)
    event = run_event("COMPLETE", at(8), outputs=["out"])
    lander.land(event)

    with pytest.raises(Exception, match=r"(?i)unique"):
        lander.land(event)


def test_a_replayed_batch_leaves_no_trace(lander, catalog, at):
    """Killed between the catalog's commit and the checkpoint's.

    The batch comes again and changes nothing.
    """
    lander.land(*triple(at, 1))
    before = contents(catalog, but=())

    replay = lander.batches.land(frame(lander.spark, triple(at, 1), lander.now), "checkpoint-1", 0)

    assert replay.is_repeat
    assert contents(catalog, but=()) == before


@pytest.mark.parametrize("after_seq", [1, 7], ids=["overlaps", "skips"])
def test_a_range_that_does_not_follow_stops_with_what_to_do(lander, catalog, at, after_seq):
    """Going on would double the events 2 and 3, or skip 4 to 7."""
    lander.land(*triple(at, 1))
    before = contents(catalog, but=())

    with pytest.raises(
        RangeMismatchError, match=r"the catalog ends at 3 .* works on from where the catalog ends"
    ):
        lander.batches.land(
            frame(lander.spark, triple(at, 2), lander.now, after_seq=after_seq), "checkpoint-1", 1
        )
    assert contents(catalog, but=()) == before


def test_batches_continue_where_the_catalog_ends(spark, catalog, tmp_path, at):
    """Nothing else is kept: a second pipeline, or one started anew, neither skips nor doubles."""
    events = [event for number in range(4) for event in triple(at, number)]
    spool(tmp_path / "spool.db", events[:7], received_at=at(12))
    work_off(spark, catalog, tmp_path, at(12), max_rows=4)
    spool(tmp_path / "spool.db", events[7:], received_at=at(12))

    work_off(spark, catalog, tmp_path, at(12), max_rows=4)

    ranges = "SELECT after_seq, last_seq, events, duplicates FROM batch ORDER BY 1"
    assert rows(catalog, ranges) == [(0, 4, 4, 0), (4, 7, 3, 0), (7, 11, 4, 0), (11, 12, 1, 0)]
    assert rows(catalog, "SELECT count(*) FROM run") == [(4,)]
    assert lake.count(tmp_path / "lake", 12) == 12


def test_a_killed_batch_leaves_nothing_in_the_lake_that_its_successor_does_not_replace(
    lander, tmp_path, at
):
    """A batch wrote its folder and died before its commit; the next one holds fewer events."""
    spooled = frame(lander.spark, triple(at, 1), lander.now)
    from slis.stream.parse import parse  # noqa: PLC0415 - this test alone goes under the batch

    lake.write_batch(parse(spooled), tmp_path / "lake", 0, 3)
    assert lake.count(tmp_path / "lake", 0) == 0

    lander.land(*triple(at, 1)[:2])

    assert lake.count(tmp_path / "lake", 2) == 2
    assert [folder.path.name for folder in lake.folders(Path(tmp_path / "lake"), 9)] == [
        f"batch-{1:020}-{2:020}"
    ]
