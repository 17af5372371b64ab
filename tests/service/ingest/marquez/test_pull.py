import asyncio
import json
from collections import Counter
from datetime import timedelta

import pytest

from lineage.process.clock import to_micros
from service.ingest.marquez import client
from service.ingest.marquez import pull as pull_module
from service.ingest.marquez.client import FAR_FUTURE, Marquez, MarquezError, events_between
from tests.fakes.marquez import minutes, run_event
from tests.service.ingest.marquez.beside import NOON, counters, lives, marquez_settings, rows
from tests.service.ingest.marquez.pulling import Hands, Taking, pull


def _numbers(bodies):
    return sorted(int(json.loads(body)["run"]["runId"][-12:]) for body in bodies)


def _all(marquez, *, after=0, before=FAR_FUTURE, limit=500):
    """Return the runs of a window by number, and of the answers."""

    async def read():
        asked = Marquez(marquez_settings(marquez))
        try:
            pages = [page async for page in events_between(asked, after, before, limit=limit)]
        finally:
            await asked.close()
        return Counter(event.known.identity() for page in pages for event in page)

    return asyncio.run(read())


def test_a_window_is_read_whole_over_ties_and_shifting_pages(marquez):
    """Read 90 events of one timestamp in pages of 7, while late events shift each page."""
    known = [run_event(n, at=NOON + minutes(n % 10)) for n in range(100)]
    known += [run_event(1_000 + n, at=NOON + minutes(5)) for n in range(90)]
    marquez.store(known)
    marquez.latecomers = [run_event(5_000 + n, at=NOON - minutes(1)) for n in range(50)]

    found = _all(marquez, after=to_micros(NOON), limit=7)

    assert len(found) == 190


def test_pages_by_offset_miss_events(marquez, monkeypatch):
    """Run the mutant: take one page for all events before its end."""
    marquez.store([run_event(n, at=NOON) for n in range(90)])
    whole = _all(marquez, limit=7)
    monkeypatch.setattr(Marquez, "events", _by_offset(Marquez.events))

    assert len(whole) == 90
    assert len(_all(marquez, limit=7)) < 90


def _by_offset(events):
    offsets = iter(range(0, 10_000, 7))

    async def page(self, *, after, before, limit):
        found = await events(self, after=after, before=before, limit=10_000)
        offset = next(offsets)
        return found[offset : offset + 7] if limit == 7 else []

    return page


def test_an_answer_that_is_too_large_is_read_in_parts(marquez, monkeypatch):
    """Bound a page in bytes too, as events may have 5 MB each."""
    monkeypatch.setattr(client, "_MAX_ANSWER_BYTES", 20_000)
    marquez.store([run_event(n, at=NOON + minutes(n)) for n in range(200)])

    assert len(_all(marquez)) == 200


def test_events_after_the_start_are_pulled_once(marquez, engine):
    """Pull in order of time, and leave older events to a backfill."""
    clock, taking = Hands(), Taking()
    marquez.store([run_event(1, at=NOON - minutes(30))])

    async def rounds(puller):
        assert await puller.round() == 0
        marquez.store(lives([2, 3]))
        clock.now += timedelta(minutes=2)
        assert await puller.round() == 4
        clock.now += timedelta(seconds=10)
        assert await puller.round() == 0

    pull(marquez, engine, taking, clock, rounds)

    assert _numbers(taking.bodies) == [2, 2, 3, 3]
    assert counters(engine) == {"pulled": 4, "pull_refused": 0}
    through = rows(engine, "SELECT started_at, through FROM marquez_pull")
    assert through == [(to_micros(NOON), to_micros(clock.now))]


def test_a_late_event_is_found(marquez, engine):
    """Find an event that is 40 minutes late by the round over the last hour."""
    clock, taking = Hands(), Taking()

    async def next_round(puller):
        clock.now += minutes(4)
        return await puller.round()

    async def rounds(puller):
        await puller.round()
        clock.now += minutes(50)
        await puller.round()
        marquez.store([run_event(1, at=clock.now - minutes(40))])
        assert [await next_round(puller) for _ in range(4)] == [0, 0, 1, 0]

    pull(marquez, engine, taking, clock, rounds)

    assert _numbers(taking.bodies) == [1]


def test_a_clock_far_ahead_hides_nothing(marquez, engine):
    """Find an event of 2099 by a deep round, as Marquez hides it by default."""
    clock, taking = Hands(), Taking()
    marquez.store([run_event(1, at=NOON.replace(year=2099))])

    pull(marquez, engine, taking, clock, lambda puller: puller.round())

    assert _numbers(taking.bodies) == [1]


@pytest.mark.parametrize("ahead", [20, 3_600, 30 * 86_400, -3_600], ids=str)
def test_a_clock_that_jumps_ends_no_round_and_loses_no_event(marquez, engine, ahead):
    """Continue when the clock is corrected and therefore behind the recorded time."""
    clock, taking = Hands(), Taking()
    clock.ahead = timedelta(seconds=ahead)

    async def rounds(puller):
        await puller.round()
        clock.ahead = timedelta(0)
        for number in range(3):
            clock.now += minutes(1)
            marquez.store([run_event(number, at=clock.now)])
            await puller.round()

    pull(marquez, engine, taking, clock, rounds)

    assert _numbers(taking.bodies) == [0, 1, 2]


def test_a_restart_pulls_where_the_last_one_ended(marquez, engine):
    """Pull the events of three hours without the role, and send the same bytes for the others."""
    clock, taking = Hands(), Taking()
    marquez.store(lives([1], kinds=("COMPLETE",)))
    pull(marquez, engine, taking, clock, lambda puller: puller.round())
    marquez.store([run_event(2, at=NOON + minutes(90))])
    clock.now += timedelta(hours=3)

    pull(marquez, engine, taking, clock, lambda puller: puller.round())

    # Both times the same event: the spool has it once, since its keys are in one order.
    assert _numbers(set(taking.bodies)) == [1, 2]
    assert len(taking.bodies) == 3


def test_a_failed_request_to_marquez_is_repeated(marquez, engine):
    """Move the position only when all events of a round are in the collector."""
    clock, taking = Hands(), Taking()

    async def rounds(puller):
        await puller.round()
        clock.now += timedelta(minutes=1)
        marquez.store(lives([1], kinds=("COMPLETE",)))
        marquez.status = 500
        with pytest.raises(MarquezError, match="HTTP 500"):
            await puller.round()
        marquez.status = None
        assert await puller.round() == 1

    pull(marquez, engine, taking, clock, rounds)


def test_without_its_position_a_restart_misses_an_outage(marquez, engine, monkeypatch):
    """Begin again at each start (mutant): events of the meantime count as history."""
    clock, taking = Hands(), Taking()
    monkeypatch.setattr(
        pull_module.Store,
        "pull_state",
        lambda _self, _url, now: pull_module.PullState(now, now),
    )
    pull(marquez, engine, taking, clock, lambda puller: puller.round())
    marquez.store([run_event(2, at=NOON + minutes(90))])
    clock.now += timedelta(hours=3)
    pull(marquez, engine, taking, clock, lambda puller: puller.round())

    assert taking.bodies == []
