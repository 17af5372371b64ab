"""A restored or a new catalog: the lake gives what the spool has deleted, each event once."""

import shutil

import pytest
from spools import prune_spool, rows, run_event, spool, work_off
from structlog.testing import capture_logs
from test_exactly_once import contents, triple

from lineage.catalog.engine import catalog_url, open_catalog
from lineage.clock import to_micros
from slis.stream import lake

_RUNS = 4
_LAST = 3 * _RUNS
# Landed anew they count in no SLI, so that `event` differs in one flag.
_COMPARED_APART = ("batch", "event")


def seqs(folder, committed=_LAST):
    """Return the events that readers of the lake see."""
    found = lake.events(lake.folders(folder / "lake", committed)).to_table(["seq"])
    return sorted(found["seq"].to_pylist())


@pytest.fixture
def catalogs(empty_catalog, tmp_path):
    """Make catalogs on SQLite: no statement of a restore is written for one database."""
    made = []

    def make():
        folder = tmp_path / f"catalog-{len(made)}"
        folder.mkdir()
        shutil.copy(empty_catalog, folder)
        made.append(open_catalog(catalog_url(folder)))
        return made[-1]

    yield make
    for engine in made:
        engine.dispose()


@pytest.fixture
def worked_off(spark, catalog, tmp_path, at):
    """A data folder of four batches of three events, and its catalog."""
    events = [event for number in range(_RUNS) for event in triple(at, number)]
    spool(tmp_path / "spool.db", events, received_at=at(12))
    work_off(spark, catalog, tmp_path, at(12), max_rows=3)
    return tmp_path


@pytest.fixture
def restored(spark, catalogs, tmp_path, at):
    """Make a catalog that ends after so many events, as a copy of that moment does."""

    def restore(events):
        found = catalogs()
        if events:
            past = tmp_path / "past"
            taken = [event for number in range(_RUNS) for event in triple(at, number)][:events]
            spool(past / "spool.db", taken, received_at=at(12))
            work_off(spark, found, past, at(12), max_rows=3)
        return found

    return restore


@pytest.mark.parametrize(
    ("ends_at", "pruned", "is_compacted"),
    [(0, 10, False), (3, 10, True), (6, 12, False), (3, 2, True), (0, 0, True)],
    ids=str,
)
def test_a_restored_catalog_gets_each_event_once(  # noqa: PLR0913, PLR0917 - fixtures
    spark, catalog, worked_off, restored, at, ends_at, pruned, is_compacted
):
    """Start the pipeline on it, then count lake and catalog."""
    if is_compacted:
        lake.compact(worked_off / "lake", 9)
    prune_spool(worked_off / "spool.db", pruned, at(12))
    again = restored(ends_at)

    spool(worked_off / "spool.db", triple(at, 9), received_at=at(12))
    work_off(spark, again, worked_off, at(12), max_rows=3)

    work_off(spark, catalog, worked_off, at(12), max_rows=3)
    but = _COMPARED_APART
    assert contents(again, but=but) == contents(catalog, but=but)
    assert rows(again, "SELECT count(*) FROM event") == [(_LAST + 3,)]
    assert seqs(worked_off, _LAST + 3) == list(range(1, _LAST + 4))


def test_what_the_lake_gives_counts_in_no_sli_a_second_time(spark, worked_off, restored, at):
    """The catalog that was lost counted the lag of these events."""
    prune_spool(worked_off / "spool.db", 10, at(12))
    again = restored(0)

    work_off(spark, again, worked_off, at(12))

    assert rows(again, "SELECT is_history, count(*) FROM event GROUP BY 1 ORDER BY 2") == [
        (True, 12)
    ]
    assert rows(again, "SELECT sum(events), sum(history) FROM batch") == [(12, 12)]


@pytest.mark.parametrize(
    ("lost", "missing"),
    [
        ([1], [(4, 6)]),
        ([0], [(1, 3)]),
        ([0, 1, 2, 3], [(1, 11)]),
        ([0, 2], [(1, 3), (7, 9)]),
    ],
    ids=str,
)
def test_what_neither_has_is_named_and_the_rest_lands(  # noqa: PLR0913, PLR0917 - fixtures
    spark, worked_off, restored, at, lost, missing
):
    """A message gives the range; what fell due between its neighbours is unknown."""
    prune_spool(worked_off / "spool.db", 11, at(12))
    for folder in [lake.every(worked_off / "lake")[place] for place in lost]:
        shutil.rmtree(folder.path)
    again = restored(0)

    with capture_logs() as logged:
        work_off(spark, again, worked_off, at(12))

    told = [
        (one["first_seq"], one["last_seq"]) for one in logged if one["event"] == "events_missing"
    ]
    assert told == missing
    gone = {seq for first, last in missing for seq in range(first, last + 1)}
    assert seqs(worked_off) == [seq for seq in range(1, _LAST + 1) if seq not in gone]
    landed = rows(again, "SELECT count(*) FROM event")
    assert landed == [(_LAST - len(gone),)]
    noon = to_micros(at(12))
    gaps = [(noon, noon)] if any(first > 1 for first, _ in missing) else []
    assert rows(again, "SELECT started_at, ended_at FROM ingestion_gap") == gaps


def test_numbers_that_repeats_used_up_are_not_missing(spark, catalog, worked_off, at):
    """A repeat takes a number and leaves no row."""
    prune_spool(worked_off / "spool.db", _LAST, at(12))
    with capture_logs() as logged:
        spool(worked_off / "spool.db", [], received_at=at(12), skip=5)
        spool(worked_off / "spool.db", triple(at, 9), received_at=at(12))
        work_off(spark, catalog, worked_off, at(12))

    assert rows(catalog, "SELECT max(last_seq) FROM batch") == [(_LAST + 5 + 3,)]
    assert not [one for one in logged if one["event"] == "events_missing"]


def test_no_folder_of_the_lake_is_deleted_that_is_not_the_batch_s_own(lander, at, tmp_path):
    """A batch replaces its own folder; another that overlaps it is put aside."""
    run = [run_event("COMPLETE", at(8), run=f"r{number}", outputs=["t"]) for number in range(4)]
    for committed in ([0, 2], [0, 4], [2, 4]):
        folder = tmp_path / "lake" / f"batch-{committed[0] + 1:020}-{committed[1]:020}"
        (folder / "event_date=2026-11-21").mkdir(parents=True)
        (folder / "event_date=2026-11-21" / "old.txt").write_text("old")

    lander.land(*run[:2])

    there = sorted(
        path.relative_to(tmp_path / "lake").as_posix()
        for path in (tmp_path / "lake").rglob("old.txt")
    )
    assert there == [
        f"aside/batch-{1:020}-{4:020}.1/event_date=2026-11-21/old.txt",
        f"batch-{3:020}-{4:020}/event_date=2026-11-21/old.txt",
    ]
    assert seqs(tmp_path, 2) == [1, 2]
