"""Scaled mode: Kafka, S3, PostgreSQL, Spark's standalone cluster, and a kill of each part."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lineage.catalog.engine import open_catalog
from lineage.lake.settings import read_lake_settings
from lineage.lake.storage import open_lake
from slis.settings import SharedPaths
from tests.faults.chance import draw
from tests.faults.cluster import Cluster
from tests.faults.comparing import contents, different, land_topic, landed, most_files, read_lake
from tests.faults.pods import Sender, count_shipped
from tests.faults.scaled import Scaled
from tests.suite.examples import is_long
from tests.suite.waiting import until

pytestmark = pytest.mark.faults

_BEFORE = 1_400
_AFTER = 1_600
# What is shipped meanwhile is one batch of more than the driver reads by itself.
_STALLED = "PostgreSQL that hangs"
_ALWAYS = ("driver", _STALLED)  # in `make test` too, and one of the others
_WITHIN_SECONDS = 2.0  # after the events, a part is killed: the pipeline checks each second


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Start a master and two workers."""
    running = Cluster(tmp_path / "cluster", workers=2)
    yield running
    running.stop()


@pytest.fixture
def scaled(cluster, broker, postgres, s3, pods, variables) -> Iterator[Scaled]:  # noqa: PLR0913, PLR0917
    """Start the pipeline on all of them."""
    servers = {"broker": broker, "postgres": postgres, "s3": s3}
    running = Scaled(cluster, **servers, pods=pods, environment=variables)
    yield running
    running.stop()


def _disturb(scaled, pods, sender, engine, part, after_seconds):  # noqa: PLR0913, PLR0917
    """Break a part while events land, and post the rest before it is back."""
    fault, expected = scaled.faults[part], (len(sender.acked) + _BEFORE + _AFTER, 0)
    over = time.monotonic() + after_seconds
    sender.post(_BEFORE)
    until(lambda: time.monotonic() >= over)
    waiting, slow = len(sender.acked) - landed(engine)[0], sender.slow
    fault.strike()
    # No producer waits for a broken part: each event is acknowledged.
    sender.post(_AFTER)
    if part == _STALLED:
        until(lambda: count_shipped(pods) >= len(sender.acked), describe=scaled.log)
    fault.recover()
    until(lambda: landed(engine) == expected, describe=scaled.log)
    fault.check()
    assert landed(engine) == expected
    took = time.monotonic() - over
    line = f"{part}: broken while {waiting} of {_BEFORE} events waited; {took:.0f} s"
    sys.stdout.write(f"{line}; {sender.slow - slow} slow requests meanwhile\n")


def test_events_through_kills_land_as_in_an_undisturbed_run(
    scaled, pods, databases, variables, tmp_path
):
    """Kill each part while events land, in random order; compare catalog and lake."""
    chance = draw()
    parts = list(scaled.faults) * int(os.environ.get("LINEWARD_PART_KILLS", "1"))
    if not is_long():  # all of them take a minute more
        parts = [*_ALWAYS, chance.choice([part for part in parts if part not in _ALWAYS])]
    chance.shuffle(parts)
    sender, engine = Sender(pods, seed=5), open_catalog(variables["LINEWARD_CATALOG_URL"])
    for part in parts:
        _disturb(scaled, pods, sender, engine, part, chance.uniform(0, _WITHIN_SECONDS))

    alone = databases.take()
    (tmp_path / "alone").mkdir()  # the driver still writes to the other folder
    land_topic(alone, variables, SharedPaths(data_dir=tmp_path / "alone"))
    facts = contents(alone)
    assert different(contents(engine), facts) == {}
    lake = open_lake(tmp_path, read_lake_settings(variables))
    bodies = read_lake(engine, lake)
    assert bodies == sorted(sender.acked)
    # The driver writes one file a day; tasks write one each.
    assert most_files(engine) > 1
    compared = f"{len(parts)} faults; {len(bodies)} events, {sum(map(len, facts.values()))} rows"
    sys.stdout.write(f"{compared} compared with those of an undisturbed run: equal\n")
    sys.stdout.write(f"requests slower than 1 s: {sender.slow}, at most {sender.slowest:.1f} s\n")
    engine.dispose()
