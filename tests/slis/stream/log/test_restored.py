"""Restored or new catalog: the lake provides what the spool has deleted, each event once."""

import shutil
from unittest.mock import Mock

import pytest
from structlog.testing import capture_logs

from lineage.catalog.engine import catalog_url, open_catalog
from lineage.process.clock import to_micros
from slis.lake.compaction import compact
from slis.lake.identity import ID_FILE
from slis.stream import batch
from slis.stream.landing import WaitError
from tests.slis.lake.lakes import read_seqs, visible, writer_of
from tests.slis.stream.merge.test_exactly_once import contents, triple
from tests.slis.stream.spools import prune_spool, rows, spool, work_off

_RUNS = 4
_LAST = 3 * _RUNS
# Landed again they count in no SLI, so that `event` differs in one flag.
_COMPARED_APART = ("batch", "event")


def seqs(engine, folder):
    """Return the events that readers of the lake see."""
    return read_seqs(writer_of(engine, folder))


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
def landed_folder(catalog, tmp_path, at):
    """Create a data folder of four batches of three events, and its catalog."""
    events = [event for number in range(_RUNS) for event in triple(at, number)]
    spool(tmp_path / "spool.db", events, received_at=at(12))
    work_off(catalog, tmp_path, at(12), max_rows=3)
    return tmp_path


@pytest.fixture
def restored(catalogs, landed_folder, tmp_path, at):
    """Make a catalog that ends after so many events, as a copy of that moment does."""

    def restore(events):
        found = catalogs()
        if events:
            past = tmp_path / "past"
            (past / "lake").mkdir(parents=True)
            shutil.copy(landed_folder / "lake" / ID_FILE, past / "lake")  # the copy knows its id
            taken = [event for number in range(_RUNS) for event in triple(at, number)][:events]
            spool(past / "spool.db", taken, received_at=at(12))
            work_off(found, past, at(12), max_rows=3)
        return found

    return restore


@pytest.mark.parametrize(
    ("ends_at", "pruned", "is_compacted"),
    [(0, 10, False), (3, 10, True), (6, 12, False), (3, 2, True), (0, 0, True)],
    ids=str,
)
def test_a_restored_catalog_gets_each_event_once(  # noqa: PLR0913, PLR0917 - fixtures
    catalog, landed_folder, restored, at, ends_at, pruned, is_compacted
):
    """Start the pipeline on it, then count lake and catalog."""
    if is_compacted:
        compact(writer_of(catalog, landed_folder), to_micros(at(12)))
    prune_spool(landed_folder / "spool.db", pruned, at(12))
    again = restored(ends_at)

    spool(landed_folder / "spool.db", triple(at, 9), received_at=at(12))
    work_off(again, landed_folder, at(12), max_rows=3)

    work_off(catalog, landed_folder, at(12), max_rows=3)
    but = _COMPARED_APART
    assert contents(again, but=but) == contents(catalog, but=but)
    assert rows(again, "SELECT count(*) FROM event") == [(_LAST + 3,)]
    assert seqs(again, landed_folder) == list(range(1, _LAST + 4))


def test_events_from_the_lake_count_in_no_sli_again(landed_folder, restored, at):
    """Count no lag again: the lost catalog counted these events."""
    prune_spool(landed_folder / "spool.db", 10, at(12))
    again = restored(0)

    work_off(again, landed_folder, at(12))

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
def test_a_missing_range_is_reported_and_the_rest_lands(  # noqa: PLR0913, PLR0917 - fixtures
    catalog, landed_folder, restored, at, lost, missing
):
    """Log the missing range; states between its neighbours are unknown."""
    prune_spool(landed_folder / "spool.db", 11, at(12))
    writer = writer_of(catalog, landed_folder)
    for folder in [visible(writer)[place] for place in lost]:
        writer.lake.delete(folder.batch)
    again = restored(0)

    with capture_logs() as logged:
        work_off(again, landed_folder, at(12))

    named = [
        (one["first_seq"], one["last_seq"]) for one in logged if one["event"] == "events_missing"
    ]
    assert named == missing
    gone = {seq for first, last in missing for seq in range(first, last + 1)}
    assert seqs(again, landed_folder) == [seq for seq in range(1, _LAST + 1) if seq not in gone]
    landed = rows(again, "SELECT count(*) FROM event")
    assert landed == [(_LAST - len(gone),)]
    noon = to_micros(at(12))
    gaps = [(noon, noon)] if any(first > 1 for first, _ in missing) else []
    assert rows(again, "SELECT started_at, ended_at FROM ingestion_gap") == gaps


def test_numbers_that_repeats_used_up_are_not_missing(catalog, landed_folder, at):
    """Allow for repeats, which take a number and leave no row."""
    prune_spool(landed_folder / "spool.db", _LAST, at(12))
    with capture_logs() as logged:
        spool(landed_folder / "spool.db", [], received_at=at(12), skip=5)
        spool(landed_folder / "spool.db", triple(at, 9), received_at=at(12))
        work_off(catalog, landed_folder, at(12))

    assert rows(catalog, "SELECT max(last_seq) FROM batch") == [(_LAST + 5 + 3,)]
    assert not [one for one in logged if one["event"] == "events_missing"]


@pytest.mark.parametrize("events", [0, 3], ids=["new", "restored"])
def test_an_event_that_fails_alone_stops_no_restore(
    landed_folder, restored, at, monkeypatch, events
):
    """Set aside again what was set aside when it came first: the lake has it as all others."""
    prune_spool(landed_folder / "spool.db", _LAST, at(12))
    works = batch.staged_rows

    def fail(facts, folds, *, are_history):
        if any(run.run_id == "r2" for run, _ in facts.runs):
            raise ValueError("r2 fails")
        return works(facts, folds, are_history=are_history)

    monkeypatch.setattr(batch, "staged_rows", fail)
    again = restored(events)
    work_off(again, landed_folder, at(12))

    aside = rows(again, "SELECT spool_seq, error FROM event_set_aside ORDER BY 1")
    assert aside == [(seq, "ValueError: r2 fails") for seq in (7, 8, 9)]
    assert rows(again, "SELECT count(DISTINCT run_id) FROM run") == [(_RUNS - 1,)]
    assert rows(again, "SELECT seq FROM reader_cursor") == [(_LAST,)]
    assert seqs(again, landed_folder) == list(range(1, _LAST + 1))


def test_a_restore_that_fails_for_all_events_sets_none_aside(
    landed_folder, restored, at, monkeypatch
):
    """Wait where a control event fails as well."""
    prune_spool(landed_folder / "spool.db", _LAST, at(12))
    monkeypatch.setattr(batch, "staged_rows", Mock(side_effect=ValueError("always")))
    again = restored(0)

    with pytest.raises(WaitError, match="always"):
        work_off(again, landed_folder, at(12))

    assert rows(again, "SELECT count(*) FROM event_set_aside") == [(0,)]
