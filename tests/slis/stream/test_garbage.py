"""Check that Python searches for no cycles while a batch is extracted, and does afterwards."""

import gc

import pytest

from lineage.lake.storage import open_lake
from slis.spark.garbage import no_search
from slis.stream.on_executors import extract_from_partition
from tests.slis.stream.spools import run_event, table


def test_a_task_searches_for_no_cycles_until_it_ends(at, tmp_path):
    """Ask while the events are read and when they are written; the worker process goes on."""
    states = []

    def read(batches):
        states.append(gc.isenabled())
        yield from batches
        states.append(gc.isenabled())

    events = table([run_event("COMPLETE", at(8), outputs=["out"])], at(12)).to_batches()
    list(extract_from_partition(events, read, open_lake(tmp_path), "folder"))

    assert states == [False, False]
    assert gc.isenabled()


def test_the_search_goes_on_after_an_error():
    """Fail inside: a bad event must not leave the process without a search."""
    with pytest.raises(ValueError, match="bad"), no_search():
        raise ValueError("bad")

    assert gc.isenabled()


def test_a_process_that_never_searches_stays_so():
    """Leave it as it was."""
    gc.disable()
    try:
        with no_search():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
