"""Metrics of the spool: its size and its waiting events."""

from prometheus_client.parser import text_string_to_metric_families

from collector.metrics import SpoolRoom
from collector.settings import Limits
from tests.collector.spools import events, wait_for_groups
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

BOUND = 2 << 20


def _sender_headers(spool=None):
    """Return names and values of a scrape."""
    room = SpoolRoom()
    room.spool = spool
    return {one.name: one.value for family in room.collect() for one in family.samples}


def _samples_after(spool, waiting):
    until(lambda: _sender_headers(spool).get("lineage_collector_spool_waiting_events") == waiting)
    return _sender_headers(spool)


def test_waiting_events_are_those_the_pipeline_has_not_passed(started, outcomes):
    """Ignore how long they stay, and Marquez, which has its own gauge."""
    spool = started(Limits(max_spool_bytes=BOUND))
    spool.submit(events(spool, *(bytes([n]) * 50_000 for n in range(5))))
    wait_for_groups(outcomes, 1)

    spool.retention.allow_deletion(1, needed=2)
    answer = _samples_after(spool, 3)
    assert answer["lineage_collector_spool_max_bytes"] == BOUND
    assert 5 * 50_000 < answer["lineage_collector_spool_bytes"] < BOUND

    spool.retention.allow_deletion(5)
    assert _samples_after(spool, 0)["lineage_collector_spool_bytes"] > 5 * 50_000


def test_free_pages_are_not_counted(started, outcomes, clock):
    """Count the contents, as the file does not shrink."""
    spool = started(Limits(max_spool_bytes=BOUND, keep_seconds=60))
    spool.submit(events(spool, *(bytes([n]) * 50_000 for n in range(5))))
    wait_for_groups(outcomes, 1)
    spool.retention.allow_deletion(5)
    clock.forward(61)

    until(lambda: _sender_headers(spool).get("lineage_collector_spool_bytes", BOUND) < 50_000)


def test_unknown_values_have_no_series(started, outcomes):
    """Show no waiting events before the readers' positions are known, instead of 0."""
    assert _sender_headers() == {}

    spool = started()
    spool.submit(events(spool, b"a"))
    wait_for_groups(outcomes, 1)
    until(lambda: "lineage_collector_spool_bytes" in _sender_headers(spool))

    assert "lineage_collector_spool_waiting_events" not in _sender_headers(spool)


def test_a_running_collector_shows_the_size_of_its_spool(collector):
    """Show it once the file is open."""

    def samples():
        text = CLIENT.get(f"{collector.url}/metrics").text
        found = [one for family in text_string_to_metric_families(text) for one in family.samples]
        return {one.name: one.value for one in found}

    until(lambda: "lineage_collector_spool_max_bytes" in samples())
    assert samples()["lineage_collector_spool_max_bytes"] == Limits().max_spool_bytes
