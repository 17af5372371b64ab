"""Size of a batch, which follows how long others wait for the catalog meanwhile."""

import errno
from unittest.mock import Mock

import pytest

from slis.settings import SharedPaths
from slis.stream import batch, pace
from slis.stream.landing import BatchLanding, WaitError
from slis.stream.log import spool_reader
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.pace import BatchPace
from tests.slis.stream.spools import rows, run_event, spool

MIB = 1 << 20
GIVEN = BatchLimits(1_000, 128 * MIB)


def test_the_batch_grows_to_the_setting_while_merges_are_short():
    """Double the size each time, from eight MiB on."""
    paced = BatchPace(GIVEN)
    sizes = []
    for _ in range(6):
        sizes.append(paced.limits().size // MIB)
        paced.landed(paced.limits().size, 1.0)

    assert sizes == [8, 16, 32, 64, 128, 128]
    assert paced.limits() == GIVEN


def test_a_small_batch_is_no_measure_of_a_large_one():
    """Land a few kB, because nothing else waits."""
    paced = BatchPace(GIVEN)
    paced.landed(4_000, 0.1)
    assert paced.limits().size == 8 * MIB


@pytest.mark.parametrize(
    ("seconds", "size"), [(10.0, 4 * MIB), (50.0, 8 * MIB // 10), (1e6, 1 << 18)]
)
def test_a_long_merge_makes_the_next_one_shorter(seconds, size):
    """Shrink the size in proportion, down to what is worth a merge."""
    paced = BatchPace(GIVEN)
    paced.landed(8 * MIB, seconds)
    assert paced.limits().size == size


def test_a_batch_that_the_catalog_had_no_time_for_is_tried_smaller():
    """Halve the size, as after a timeout of PostgreSQL."""
    paced = BatchPace(GIVEN)
    paced.gave_up()
    assert paced.limits().size == 4 * MIB


def test_the_batch_never_exceeds_a_small_setting():
    """Keep a setting below the smallest size."""
    paced = BatchPace(BatchLimits(10, 1_000))
    paced.landed(1_000, 60.0)
    assert paced.limits().size == 1_000


@pytest.fixture
def landing(catalog, tmp_path, at, monkeypatch):
    """Fill a spool with five events, of which three are the first batch."""
    events = [run_event("COMPLETE", at(1, number), run=f"r{number}") for number in range(5)]
    place = SharedPaths(data_dir=tmp_path)
    spool(place.spool, events, received_at=at(12))
    size = spool_reader.read_next_events(place.spool, 0, BatchLimits(1, MIB))["body"][0].as_py()
    monkeypatch.setattr(pace, "_FIRST_BYTES", 3 * len(size))
    monkeypatch.setattr(pace, "_LEAST_BYTES", len(size))
    given = {"limits": GIVEN, "clock": lambda: at(12)}
    return BatchLanding(catalog, place, **given)


def test_after_a_long_merge_fewer_events_are_landed_at_once(landing, catalog, monkeypatch):
    """Land one event at a time after the first batch."""
    monkeypatch.setattr(pace, "_LONGEST_SECONDS", 1e-9)

    landing.work_off()

    assert rows(catalog, "SELECT events FROM batch ORDER BY last_seq") == [(3,), (1,), (1,)]


def test_after_a_wait_for_the_catalog_fewer_events_are_tried(landing, catalog, monkeypatch):
    """Try half of a batch that was too large for a timeout."""
    with monkeypatch.context() as failing:
        failing.setattr(batch, "staged_rows", Mock(side_effect=OSError(errno.EIO, "broken")))
        with pytest.raises(WaitError):
            landing.step()
    landing.step()

    assert rows(catalog, "SELECT events FROM batch") == [(1,)]
