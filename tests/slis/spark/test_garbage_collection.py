"""Garbage collector of Python: off while a batch is extracted, and on afterwards."""

import gc

import pytest

from lineage.lake.storage import open_lake
from slis.spark.garbage_collection import no_search
from slis.stream.on_executors import extract_from_partition
from tests.slis.stream.spools import run_event, table


def test_a_task_collects_no_garbage_until_it_ends(at, tmp_path):
    """Check while the events are read and when they are written; the worker process continues."""
    states = []

    def read(batches):
        states.append(gc.isenabled())
        yield from batches
        states.append(gc.isenabled())

    events = table([run_event("COMPLETE", at(8), outputs=["out"])], at(12)).to_batches()
    list(extract_from_partition(events, read, open_lake(tmp_path), "folder"))

    assert states == [False, False]
    assert gc.isenabled()


def test_garbage_collection_is_on_again_after_an_error():
    """Fail inside: a bad event must not leave the process without a collector."""
    with pytest.raises(ValueError, match="bad"), no_search():
        raise ValueError("bad")

    assert gc.isenabled()


def test_a_process_without_garbage_collection_stays_so():
    """Leave it as it was."""
    gc.disable()
    try:
        with no_search():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
