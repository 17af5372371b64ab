"""The lake: batches, compaction, retention."""

import os
import shutil
import subprocess
from datetime import date

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spools import frame, rows, run_event
from sqlalchemy import insert, update

from lineage import policy
from lineage.catalog.engine import writing
from lineage.catalog.tables import audit, dataset, dataset_write, reader_cursor
from lineage.clock import to_micros
from slis import known_writes
from slis.settings import Place, Settings
from slis.stream import lake
from slis.stream.parse import parse
from slis.stream.prune import prune
from tests.slis.catalog_rows import CatalogRows


def seqs(root, committed):
    """The events that readers see."""
    return sorted(lake.events(lake.folders(root, committed)).to_table(["seq"])["seq"].to_pylist())


@pytest.fixture
def two_batches(spark, tmp_path, at):
    """A lake of the events 1 to 2 and 3 to 4, of two days."""
    days = [run_event("COMPLETE", at(hours), outputs=["t"]) for hours in (-3, 3)]
    for after_seq in (0, 2):
        parsed = parse(frame(spark, days, at(12), after_seq=after_seq))
        lake.write_batch(parsed, tmp_path, after_seq, after_seq + 2)
    return tmp_path


def test_readers_see_committed_batches_only(two_batches):
    """The second batch is on disk, but its facts are not in the catalog yet."""
    assert seqs(two_batches, 2) == [1, 2]
    assert seqs(two_batches, 4) == [1, 2, 3, 4]


def test_compaction_leaves_each_event_once(two_batches):
    """One folder takes the place of two; days stay apart."""
    compacted = lake.compact(two_batches, 4)

    assert [folder.path for folder in lake.folders(two_batches, 4)] == [compacted.path]
    assert seqs(two_batches, 4) == [1, 2, 3, 4]
    assert sorted(path.name for path in compacted.path.iterdir()) == [
        "event_date=2026-11-20",
        "event_date=2026-11-21",
    ]
    assert lake.compact(two_batches, 4) is None


@pytest.mark.parametrize("killed_in", ["_rewrite", "_sweep"])
def test_a_killed_compaction_shows_neither_both_nor_neither(two_batches, monkeypatch, killed_in):
    """Killed before the renaming: the batches are there. After it: only what replaced them."""
    calls = []
    real = getattr(lake, killed_in)

    def killed(*arguments: object):
        calls.append(arguments)
        # The first sweep clears an earlier kill's remains: it is the second that comes after the
        # renaming.
        if killed_in == "_sweep" and len(calls) == 1:
            return real(*arguments)
        if killed_in == "_rewrite":
            real(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(lake, killed_in, killed)
    with pytest.raises(KeyboardInterrupt):
        lake.compact(two_batches, 4)
    monkeypatch.undo()

    assert seqs(two_batches, 4) == [1, 2, 3, 4]
    lake.compact(two_batches, 4)
    assert seqs(two_batches, 4) == [1, 2, 3, 4]
    assert len(list(two_batches.iterdir())) == 1


def put(root, name, *seqs: int, day="2026-11-21", rows=1):
    """A folder of the lake, written without Spark."""
    folder = root / name / f"event_date={day}"
    folder.mkdir(parents=True, exist_ok=True)
    noise = [os.urandom(1_000) for _ in range(rows * len(seqs))]
    table = pa.table({"seq": [seq for seq in seqs for _ in range(rows)], "body": noise})
    pq.write_table(table, folder / "part-0.parquet")


def batch(first, last):
    """The name of a batch's folder."""
    return f"batch-{first:020}-{last:020}"


def test_small_compacted_folders_are_compacted_again(tmp_path):
    """Compacted hourly, a lake would else have thousands of folders; each is rewritten seldom."""
    rewritten = 0
    for first in range(1, 201, 2):
        put(tmp_path, batch(first, first), first)
        put(tmp_path, batch(first + 1, first + 1), first + 1)
        found = lake.compact(tmp_path, first + 1)
        rewritten += found.last_seq - found.first_seq + 1

    assert seqs(tmp_path, 200) == list(range(1, 201))
    assert len(lake.every(tmp_path)) < 10
    assert rewritten < 200 * 10


def test_many_batches_are_compacted_before_the_hour_is_over(tmp_path):
    """Each batch lists the lake: it must not grow by one folder a second for a day."""
    for seq in range(1, 502):
        (tmp_path / batch(seq, seq)).mkdir()
        assert lake.is_scattered(tmp_path) == (seq > 500)


@pytest.mark.parametrize("count", [2_000, 4_000])
def test_listing_and_sweeping_compare_no_folder_with_all_others(tmp_path, count, monkeypatch):
    """It once took 20 minutes of the driver for a busy day."""
    for seq in range(1, count + 1):
        (tmp_path / batch(seq, seq)).mkdir()
    (tmp_path / f"compacted-{1:020}-{count // 2:020}").mkdir()
    compared = []
    equal = lake.Folder.__eq__
    monkeypatch.setattr(
        lake.Folder, "__eq__", lambda one, other: compared.append(1) or equal(one, other)
    )

    lake._sweep(tmp_path, count)  # noqa: SLF001 - what a compaction begins with

    assert len(lake.every(tmp_path)) == count // 2 + 1
    assert len(compared) <= count


@pytest.mark.parametrize("day", ["2099-01-01", "2026-11-23", "9999-12-31"])
def test_a_day_that_has_not_come_is_deleted_in_its_turn(tmp_path, day):
    """Events of a clock that was ahead are kept under today."""
    put(tmp_path, batch(1, 2), 1, day="2026-11-21")
    put(tmp_path, batch(1, 2), 2, day=day)
    put(tmp_path, batch(3, 3), 3, day="2026-11-22")

    assert lake.date_back(tmp_path, date(2026, 11, 21)) == 1
    assert seqs(tmp_path, 3) == [1, 2, 3]
    assert lake.forget(tmp_path, "2026-11-22") == 1
    assert seqs(tmp_path, 3) == [3]


def test_what_was_put_aside_goes_with_the_days_of_the_lake(tmp_path):
    """And the folder that is left empty."""
    put(tmp_path / "aside", batch(1, 2), 1, day="2026-11-20")
    put(tmp_path / "aside", batch(3, 4), 3, day="2026-11-21")

    assert lake.forget(tmp_path, "2026-11-21") == 1

    assert [path.name for path in (tmp_path / "aside").iterdir()] == [batch(3, 4)]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 32 MiB."""
    path = tmp_path / "small"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(path)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("may not mount a tmpfs here")
    yield path
    subprocess.check_call(["umount", "-l", str(path)])


def _fill(disk, leave):
    """Take all room of the disk but so many bytes."""
    free = shutil.disk_usage(disk).free
    (disk / "filler").write_bytes(os.urandom(max(0, free - leave)))


@pytest.mark.parametrize("leave", [3 << 20, 64 << 10, 0])
def test_retention_frees_a_full_disk(small_disk, embedded, at, leave):
    """It deletes before it rewrites anything, and leaves nothing half-written behind."""
    place = Place(data_dir=small_disk)
    put(place.lake, batch(1, 2), 1, 2, day="2026-08-01", rows=5_000)
    put(place.lake, batch(3, 4), 3, 4, day="2026-11-20", rows=2_500)
    put(place.lake, batch(5, 6), 5, 6, day="2026-11-21", rows=2_500)
    with embedded.begin() as connection:
        connection.execute(insert(reader_cursor).values(reader="pipeline", seq=6))
    _fill(small_disk, leave)
    before = shutil.disk_usage(small_disk).free

    with pytest.raises(OSError, match="bytes free on its disk"):
        lake.compact(place.lake, 6)
    assert shutil.disk_usage(small_disk).free >= before
    prune(embedded, place, Settings(), at(12), lake_days=90)

    assert shutil.disk_usage(small_disk).free > before + (9 << 20)
    assert list(place.lake.glob("_unfinished-*")) == []
    assert set(seqs(place.lake, 6)) == {3, 4, 5, 6}


def test_a_disk_that_fills_during_a_compaction_gets_its_room_back(small_disk, monkeypatch):
    """Others write to it as well: what was free before may be gone."""
    root = small_disk / "lake"
    put(root, batch(1, 2), 1, 2, rows=2_500)
    put(root, batch(3, 4), 3, 4, rows=2_500)
    monkeypatch.setattr(lake, "_check_room", lambda *_: None)
    _fill(small_disk, 2 << 20)
    before = shutil.disk_usage(small_disk).free

    with pytest.raises(OSError, match=r"(?i)space"):
        lake.compact(root, 4)

    assert shutil.disk_usage(small_disk).free >= before
    assert list(root.glob("_unfinished-*")) == []
    assert set(seqs(root, 4)) == {1, 2, 3, 4}


def test_days_past_their_retention_go(two_batches):
    """The day before goes from every folder; the day itself stays."""
    assert lake.forget(two_batches, "2026-11-21") == 2
    assert seqs(two_batches, 4) == [2, 4]


def test_the_daily_clearing_keeps_the_newest_writes(lander, catalog, tmp_path, at):
    """As many as the settings say, and the first; identities of events go by age."""
    lander.land(
        *(run_event("COMPLETE", at(hour), run=f"r{hour}", outputs=["t"]) for hour in range(12))
    )
    settings = Settings(writes_a_dataset=10, event_days=1)

    with catalog.begin() as connection:
        # A forwarder that is behind, or was turned off long ago, holds no batch.
        connection.execute(insert(reader_cursor).values(reader="marquez", seq=0))

    prune(catalog, Place(data_dir=tmp_path), settings, at(24 + 6), lake_days=90)

    kept = "SELECT count(*), min(root_run_id) FROM dataset_write"
    assert rows(catalog, kept) == [(11, "r0")]
    assert rows(catalog, "SELECT count(*) FROM event") == [(6,)]
    assert rows(catalog, "SELECT count(*) FROM batch") == [(1,)]


def test_a_dataset_that_was_written_once_keeps_that_write(lander, catalog, tmp_path, at):
    """It is read for years: without its write, each of those reads had no origin."""
    lander.land(
        run_event("COMPLETE", at(0), run="once", outputs=["static"]),
        run_event("COMPLETE", at(0), run="old", outputs=["moving"]),
        run_event("COMPLETE", at(1), run="older than kept", outputs=["moving"]),
    )
    with catalog.begin() as connection:
        connection.execute(update(dataset).values(last_seen_at=to_micros(at(24 * 399))))

    prune(catalog, Place(data_dir=tmp_path), Settings(), at(24 * 400), lake_days=90)

    kept = rows(catalog, "SELECT root_run_id FROM dataset_write ORDER BY root_run_id")
    assert kept == [("old",), ("once",)]


def test_the_daily_clearing_keeps_half_a_year_of_hourly_writes(embedded, tmp_path, at):
    """Limits are learned from all of them: a tenth of them gave 30 times the false alarms."""
    hours = 180 * 24
    estate = CatalogRows(embedded, at(0))
    estate.written(estate.dataset("hourly"), at(0))
    [first] = estate.rows(dataset_write)
    later = [
        {**first, "root_run_id": f"r{hour}", "written_at": to_micros(at(hour))}
        for hour in range(1, hours)
    ]
    with writing(embedded) as connection:
        connection.execute(insert(dataset_write), later)

    prune(embedded, Place(data_dir=tmp_path), Settings(), at(hours), lake_days=90)

    assert rows(embedded, "SELECT count(*) FROM dataset_write") == [(hours,)]
    assert hours <= known_writes.MAX_WRITES


def test_runs_go_with_the_writes_that_name_them(lander, catalog, tmp_path, at):
    """What a run read and wrote goes with it; a run that is younger stays."""
    lander.land(
        run_event("COMPLETE", at(0), run="r1", outputs=["t"]),
        run_event("COMPLETE", at(11), run="r2", outputs=["t"]),
    )

    prune(catalog, Place(data_dir=tmp_path), Settings(write_days=1), at(30), lake_days=90)

    assert rows(catalog, "SELECT run_id FROM run") == [("r2",)]
    assert rows(catalog, "SELECT count(*) FROM run_io") == [(1,)]


def test_names_that_were_folded_go_when_they_are_old(lander, catalog, tmp_path, at):
    """Each run brings one: there is no end to them. Other aliases stay."""
    lander.policy = policy.parse("folds: [{match: 'n/run_{n}', dataset: n/run}]")
    lander.land(
        run_event("COMPLETE", at(0), run="r1", outputs=["run_1", "/wh/t/"]),
        run_event("COMPLETE", at(11), run="r2", outputs=["run_2", "/wh/t"]),
    )

    prune(catalog, Place(data_dir=tmp_path), Settings(write_days=1), at(30), lake_days=90)

    aliases = rows(catalog, "SELECT rule, name FROM dataset_alias ORDER BY 1")
    assert aliases == [("fold", "run_2"), ("trailing_slash", "/wh/t/")]


def test_the_audit_log_is_kept_as_long_as_the_settings_say(catalog, tmp_path, at):
    """What is older goes, but for the newest row: SQLite would give its number once more."""
    with catalog.begin() as connection:
        for hour in (0, 10, 11):
            row = {"at": to_micros(at(hour)), "who": "ada", "action": "retire", "detail": "n/t"}
            connection.execute(insert(audit).values(row))
    kept = "SELECT id FROM audit ORDER BY id"

    prune(catalog, Place(data_dir=tmp_path), Settings(), at(24 * 400), lake_days=90)
    assert rows(catalog, kept) == [(1,), (2,), (3,)]

    prune(catalog, Place(data_dir=tmp_path), Settings(audit_days=1), at(24 + 10.5), lake_days=90)
    assert rows(catalog, kept) == [(3,)]

    prune(catalog, Place(data_dir=tmp_path), Settings(audit_days=1), at(24 * 9), lake_days=90)
    assert rows(catalog, kept) == [(3,)]
