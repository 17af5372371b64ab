import json
from collections import Counter

import pytest

from service.ingest import collector_spool
from service.ingest.marquez import deliver
from service.ingest.marquez.store import SetAsideRow, Store
from tests.fakes.marquez import run_event
from tests.service.ingest.marquez.beside import (
    NOON,
    counters,
    cursor,
    forward,
    holds,
    kinds_of_runs,
    lives,
    rows,
    spool,
)


def _in_order(marquez, runs, kinds=("START", "COMPLETE")):
    return kinds_of_runs(marquez) == {
        run_event(run, at=NOON)["run"]["runId"]: list(kinds) for run in runs
    }


def test_every_event_arrives_as_it_was_sent_and_in_order_of_its_run(tmp_path, engine, marquez):
    """Send the producer's bytes, with 40 runs in parallel and each in order."""
    kinds = ("START", "RUNNING", "RUNNING", "COMPLETE")
    events = lives(range(40), kinds=kinds)
    spool(tmp_path, events)

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == len(events))

    assert sorted(marquez.acked) == sorted(json.dumps(event).encode() for event in events)
    assert _in_order(marquez, range(40), kinds)
    assert counters(engine) == {"forwarded": len(events)}


def test_an_outage_loses_nothing_and_keeps_the_order(tmp_path, engine, marquez):
    """Reject connections, answer 500 and 503, and lose answers: all is sent in the end."""
    marquez.stop()
    spool(tmp_path, lives(range(20)))
    unacknowledged = 10

    async def recover():
        marquez.status = 500
        marquez.start()
        await holds(lambda: marquez.seen["POST", "/api/v1/lineage", 500] > 30)
        marquez.rejections, marquez.lost_answers = 20, unacknowledged
        marquez.status = None

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 40, meanwhile=recover)

    assert _in_order(marquez, range(20))
    assert rows(engine, "SELECT * FROM marquez_set_aside") == []
    # A second raw row only where the first one's answer was lost.
    assert len(marquez.rows) == 40 + unacknowledged


def test_a_restart_continues_where_the_last_one_ended(tmp_path, engine, marquez):
    """Send nothing again that was recorded."""
    spool(tmp_path, lives(range(5)))
    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 10)
    spool(tmp_path, lives(range(5, 9)))

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 18)

    assert set(Counter(marquez.acked).values()) == {1}
    assert _in_order(marquez, range(9))


def test_without_the_cursor_a_restart_sends_again(tmp_path, engine, marquez, monkeypatch):
    """Run the mutant: record nothing, so that each event is sent twice."""
    monkeypatch.setattr(Store, "note_forwarded", lambda *_: None)
    spool(tmp_path, lives(range(5)))
    for _ in range(2):
        sent = len(marquez.acked) + 10
        forward(tmp_path, engine, marquez, until=lambda sent=sent: len(marquez.acked) == sent)

    assert set(Counter(marquez.acked).values()) == {2}


@pytest.mark.parametrize("origin", ["marquez", "marquez-history"])
def test_events_of_marquez_are_not_sent_back(tmp_path, engine, marquez, origin):
    """Leave them out, as they would return with other bytes, without end."""
    spool(tmp_path, lives(range(3)), origin=origin)
    spool(tmp_path, lives([7]), origin="history")

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 8)

    assert _in_order(marquez, [7])


def test_without_the_origin_events_are_sent_back(tmp_path, engine, marquez, monkeypatch):
    """Run the mutant: ignore the origin."""
    monkeypatch.setattr(collector_spool, "FROM_MARQUEZ", ())
    spool(tmp_path, lives(range(3)), origin="marquez")

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 6)

    assert _in_order(marquez, range(3))


def test_an_event_that_is_rejected_is_set_aside_with_its_reason(tmp_path, engine, marquez):
    """Set aside a 422, a 500 with 400 inside, and a 500 that stored it, and go on with the run."""
    no_producer = run_event(1, at=NOON, producer="")
    odd_facet = run_event(2, at=NOON, run={"runId": "r2", "facets": {"nominalTime": 3}})
    no_type = run_event(3, at=NOON)
    del no_type["eventType"]
    spool(tmp_path, [no_producer, odd_facet, no_type, *lives([1])])

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 5)

    sql = "SELECT spool_seq, run, reason, body_bytes FROM marquez_set_aside ORDER BY spool_seq"
    run_ids = [run_event(n, at=NOON)["run"]["runId"] for n in (1, 3)]
    assert rows(engine, sql) == [
        (1, run_ids[0], "http_422", len(json.dumps(no_producer))),
        (2, "r2", "unprocessable", len(json.dumps(odd_facet))),
        (3, run_ids[1], "no_event_type", len(json.dumps(no_type))),
    ]
    assert _in_order(marquez, [1])
    assert len(marquez.rows) == 3
    assert counters(engine) == {
        "forwarded": 2,
        "set_aside:http_422": 1,
        "set_aside:no_event_type": 1,
        "set_aside:unprocessable": 1,
    }


def test_an_event_that_fails_alone_does_not_block_the_rest(tmp_path, engine, marquez):
    """Deliver other runs at once, and its own run after it was set aside."""
    poison = run_event(1, at=NOON, kind="START")
    marquez.is_poison = lambda event: event == poison
    spool(tmp_path, [poison, *lives([1], kinds=("COMPLETE",))])
    next_run = iter(range(2, 1_000))

    async def others():
        while cursor(engine) < 2:
            sent = len(marquez.acked)
            spool(tmp_path, lives([next(next_run)]))
            await holds(lambda sent=sent: len(marquez.acked) >= sent + 2)

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) >= 2, meanwhile=others)

    assert rows(engine, "SELECT spool_seq, reason FROM marquez_set_aside") == [(1, "failed_alone")]
    assert kinds_of_runs(marquez)[poison["run"]["runId"]] == ["COMPLETE"]


def test_an_outage_makes_no_event_look_at_fault(tmp_path, engine, marquez, monkeypatch):
    """Set nothing aside while all fail.

    Mutant: count failures only, and set all aside.
    """
    spool(tmp_path, lives(range(3)))
    monkeypatch.setattr(deliver, "_LEAST_WHILE_OTHERS_PASSED", 0)
    marquez.status = 500
    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 6)
    assert len(rows(engine, "SELECT * FROM marquez_set_aside")) == 6
    monkeypatch.undo()

    spool(tmp_path, lives(range(3, 6)))

    async def recover():
        before = marquez.seen["POST", "/api/v1/lineage", 500]
        await holds(lambda: marquez.seen["POST", "/api/v1/lineage", 500] > before + 60)
        marquez.status = None

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 12, meanwhile=recover)
    assert len(rows(engine, "SELECT * FROM marquez_set_aside")) == 6
    assert _in_order(marquez, range(3, 6))


@pytest.mark.parametrize("status", [302, 401, 404, 429])
def test_a_rejection_of_everything_is_waited_out(tmp_path, engine, marquez, status):
    """Send it once it is fixed: a wrong token or path is no fault of an event."""
    spool(tmp_path, lives([1]))
    marquez.status = status

    async def fix():
        await holds(lambda: marquez.seen["POST", "/api/v1/lineage", status] > 20)
        marquez.status = None

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 2, meanwhile=fix)

    assert _in_order(marquez, [1])


def test_the_token_is_shown(tmp_path, engine, marquez):
    """Send it to a proxy before Marquez."""
    marquez.token = "s3cret"  # noqa: S105 - of a test
    file = tmp_path / "token"
    file.write_text("s3cret\n")
    spool(tmp_path, lives([1]))

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 2, token_file=file)

    assert _in_order(marquez, [1])


def test_a_spool_that_began_again_is_forwarded_from_its_start(tmp_path, engine, marquez):
    """Ignore the old position, which would skip the first events."""
    spool(tmp_path, lives(range(10)))
    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 20)
    for file in tmp_path.glob("spool.db*"):
        file.unlink()
    spool(tmp_path, lives(range(10, 12)))

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 4)

    assert _in_order(marquez, range(12))


def test_the_newest_set_aside_events_are_kept(catalog):
    """Keep 1,000 rows of 64 KiB each, and count a repeat after a kill once."""
    store = Store(catalog)
    for seq in (*range(1_003), 1_002):
        store.set_aside(SetAsideRow(seq, "r", "http_422", "why", b"x" * 70_000, 70_000, seq))

    found = rows(catalog, "SELECT min(spool_seq), count(*) FROM marquez_set_aside")
    assert found == [(3, 1_000)]
    assert counters(catalog) == {"set_aside:http_422": 1_003}
    assert {len(row[0]) for row in rows(catalog, "SELECT body FROM marquez_set_aside")} == {65_536}
