"""What a batch held in Spark's JVM is free once it has landed."""

import gc
from contextlib import closing

import pytest
from py4j.java_gateway import JavaObject
from spools import run_event, spool

from slis.settings import Place
from slis.stream.landing import Landing
from slis.stream.source import Bounds


@pytest.fixture
def _rare_search():
    """As Python searches for garbage by itself: not within a few batches."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.postgres_nightly
@pytest.mark.usefixtures("_rare_search")
def test_no_object_of_the_jvm_outlives_its_batch(spark, catalog, tmp_path, at):
    """Each that stays keeps the bodies of its events in the heap."""
    events = [run_event("COMPLETE", at(8, minute), run=f"r{minute}") for minute in range(3)]
    spool(tmp_path / "spool.db", events, received_at=at(9))
    bounds = Bounds(1, 1 << 20)
    place = Place(data_dir=tmp_path)
    with closing(Landing(spark, catalog, place, bounds=bounds, clock=lambda: at(9))) as landing:
        landing.step()
        before = _objects_of_jvm()
        landing.step()
        landing.step()

    assert _objects_of_jvm() <= before


def _objects_of_jvm():
    return sum(issubclass(type(each), JavaObject) for each in gc.get_objects())
