"""How full the spool is and what waits in it, as Prometheus hears of it."""

from prometheus_client.parser import text_string_to_metric_families

from collector.metrics import SpoolRoom
from collector.settings import Limits
from tests.collector.spools import events, wait_for_groups
from tests.service.waiting import until
from tests.suite.http_client import CLIENT

BOUND = 2 << 20


def _sender_headers(spool=None):
    """Names and values of what a scrape is given."""
    room = SpoolRoom()
    room.spool = spool
    return {one.name: one.value for family in room.collect() for one in family.samples}


def _told_of(spool, waiting):
    until(lambda: _sender_headers(spool).get("lineage_collector_spool_waiting_events") == waiting)
    return _sender_headers(spool)


def test_what_waits_is_what_the_pipeline_has_not_passed(started, outcomes):
    """However long it stays, and whether or not a Marquez has it: that has a gauge of its own."""
    spool = started(Limits(max_spool_bytes=BOUND))
    spool.submit(events(spool, *(bytes([n]) * 50_000 for n in range(5))))
    wait_for_groups(outcomes, 1)

    spool.passed.through(1, needed=2)
    answer = _told_of(spool, 3)
    assert answer["lineage_collector_spool_max_bytes"] == BOUND
    assert 5 * 50_000 < answer["lineage_collector_spool_bytes"] < BOUND

    spool.passed.through(5)
    assert _told_of(spool, 0)["lineage_collector_spool_bytes"] > 5 * 50_000


def test_room_that_is_free_again_is_not_held(started, outcomes, clock):
    """The file does not shrink; the bound is of what it holds."""
    spool = started(Limits(max_spool_bytes=BOUND, keep_seconds=60))
    spool.submit(events(spool, *(bytes([n]) * 50_000 for n in range(5))))
    wait_for_groups(outcomes, 1)
    spool.passed.through(5)
    clock.forward(61)

    until(lambda: _sender_headers(spool).get("lineage_collector_spool_bytes", BOUND) < 50_000)


def test_what_is_not_known_has_no_series(started, outcomes):
    """A worker that has just begun knows no reader's place: 0 would say that nothing waits."""
    assert _sender_headers() == {}

    spool = started()
    spool.submit(events(spool, b"a"))
    wait_for_groups(outcomes, 1)
    until(lambda: "lineage_collector_spool_bytes" in _sender_headers(spool))

    assert "lineage_collector_spool_waiting_events" not in _sender_headers(spool)


def test_a_running_collector_tells_how_full_its_spool_is(collector):
    """Of the file that it opened; before that it tells nothing."""

    def told():
        text = CLIENT.get(f"{collector.url}/metrics").text
        found = [one for family in text_string_to_metric_families(text) for one in family.samples]
        return {one.name: one.value for one in found}

    until(lambda: "lineage_collector_spool_max_bytes" in told())
    assert told()["lineage_collector_spool_max_bytes"] == Limits().max_spool_bytes
