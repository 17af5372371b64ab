"""Silent collectors that a person removes; the pipeline carries the request out."""

import pytest
from sqlalchemy import select

from alerts.detection.self_monitoring import find_own_faults, read_status
from lineage.catalog import tables
from lineage.catalog.meta_keys import LOG_LAST_GOODBYE
from runbooks.actions.action import ActionPlan
from runbooks.actions.errors import InvalidActionError, RejectedActionError
from slis.stream.kafka.silence import note_silence
from tests.runbooks.actions.acting import World

SECOND = 1_000_000
SILENT = "silent collectors: c-1 (since 2026-11-21 09:59:59 UTC), c-2 (since 2026-11-21 10:00:00"


@pytest.fixture
def silent(catalog, tmp_path):
    """Have `c-1` and `c-2` be silent for two hours, while `c-3` is up."""
    world = World(catalog, tmp_path)
    beats = {"c-1": 7_201, "c-2": 7_200, "c-3": 1}
    world.insert(
        "log_collector",
        *(
            {"collector": name, "heartbeat_at": world.now - seconds * SECOND}
            for name, seconds in beats.items()
        ),
    )
    note_silence(catalog, world.now)
    return world


def _collectors(world):
    with world.engine.connect() as connection:
        return sorted(connection.scalars(select(tables.log_collector.c.collector)))


def _gaps(world):
    with world.engine.connect() as connection:
        found = connection.execute(select(tables.ingestion_gap)).all()
    return sorted((row.started_at - world.now, row.ended_at) for row in found)


def test_a_plan_says_what_ends_and_what_is_missing_and_changes_nothing(silent):
    before = silent.everything()

    assert silent.plan("remove-collector", name="c-1") == ActionPlan(
        does=(
            "remove the collector c-1, which has been silent since 2026-11-21 09:59:59 UTC",
            "end its ingestion gap, which began at 2026-11-21 09:59:59 UTC, now",
        ),
        figures={"silent_seconds": 7_201},
        cautions=(
            "events in its spool have not landed if they did not reach Kafka",
            "such events land only if a collector starts with its volume; no volume is deleted",
            "datasets that were due in the gap stay unknown until they are due again",
            "a collector that comes back is known again with its first heartbeat",
        ),
    )
    assert silent.everything() == before


def test_the_pipeline_carries_the_request_out(silent):
    """Write the request only; the pipeline forgets the collector, and ends its gap now."""
    done = silent.act("remove-collector", name="c-1").done
    requested = _collectors(silent), _gaps(silent)
    note_silence(silent.engine, silent.now + SECOND)

    assert done.did == (
        "requested the removal of c-1, silent since 2026-11-21 09:59:59 UTC",
        "the pipeline carries it out within seconds, unless a heartbeat arrives first",
    )
    assert requested[0] == ["c-1", "c-2", "c-3"]
    assert requested[1] == [(-7_201 * SECOND, None), (-7_200 * SECOND, None)]
    assert _collectors(silent) == ["c-2", "c-3"]
    assert _gaps(silent) == [(-7_201 * SECOND, silent.now), (-7_200 * SECOND, None)]


def test_the_fault_lasts_until_each_silent_collector_is_removed(silent):
    """Find the fault by the open gaps that are left."""
    found = []
    for name in ("c-1", "c-2"):
        silent.act("remove-collector", name=name)
        note_silence(silent.engine, silent.now + SECOND)
        with silent.engine.connect() as connection:
            status = read_status(connection, silent.now, silent.now)
            found.append([each.message for each in find_own_faults(connection, status, None)])

    assert found == [["no heartbeat of c-2"], []]


def test_a_wrong_name_lists_the_silent_collectors(silent):
    """Say as well that none is silent."""
    with pytest.raises(InvalidActionError) as wrong:
        silent.plan("remove-collector", name="c-9")
    assert str(wrong.value).startswith(f"no collector is named 'c-9'; {SILENT}")

    for name in ("c-1", "c-2"):
        silent.act("remove-collector", name=name)
    note_silence(silent.engine, silent.now + SECOND)
    with pytest.raises(InvalidActionError, match=r"named 'c-1'; no collector is silent"):
        silent.plan("remove-collector", name="c-1")


@pytest.mark.parametrize("is_dry", [True, False])
def test_a_collector_that_is_not_silent_is_not_removed(silent, is_dry):
    before = silent.everything()
    with pytest.raises(RejectedActionError, match="the collector c-3 is not silent; silent coll"):
        silent.act("remove-collector", is_dry=is_dry, name="c-3")

    assert silent.everything() == before


def test_the_gap_of_the_last_collector_stays_open(catalog, tmp_path):
    """Say so before, and reject the same request afterwards."""
    world = World(catalog, tmp_path)
    beat = {"collector": "c-1", "heartbeat_at": world.now - 60 * SECOND}
    world.insert("log_collector", beat)
    note_silence(catalog, world.now)

    kept = "keep its ingestion gap open until a collector starts: no other one is known"
    assert world.plan("remove-collector", name="c-1").does[1] == kept
    world.act("remove-collector", name="c-1")
    note_silence(catalog, world.now + SECOND)
    assert _gaps(world) == [(-60 * SECOND, None)]
    with pytest.raises(RejectedActionError, match="gap ends when a collector starts"):
        world.plan("remove-collector", name="c-1")


def test_a_collector_with_a_goodbye_is_not_silent(silent):
    """Reject it: the pipeline keeps the last one that ended."""
    silent.insert("meta", {"name": LOG_LAST_GOODBYE, "value": "c-1"})
    with pytest.raises(RejectedActionError, match="c-1 has ended or was removed, and no other one"):
        silent.plan("remove-collector", name="c-1")
