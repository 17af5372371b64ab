import contextlib
import json
from datetime import timedelta
from functools import partial

import pytest

from lineage.process.clock import to_micros
from service.ingest.marquez import pull as pull_module
from service.ingest.marquez.client import Marquez, MarquezError, events_between
from tests.fakes.marquez import minutes, run_event
from tests.service.ingest.marquez.beside import NOON, counters, rows
from tests.service.ingest.marquez.pulling import Hands, Taking, pull


def _numbers(bodies):
    return sorted(int(json.loads(body)["run"]["runId"][-12:]) for body in bodies)


@pytest.fixture
def scarce(monkeypatch):
    """Return a Marquez that gives one answer of 20 events a round, and fails at the next."""
    ask, answers = Marquez.events, []

    async def once(self, *, after, before, limit):
        if not answers:
            message = "it fails once a round"
            raise MarquezError(message)
        answers.pop()
        return await ask(self, after=after, before=before, limit=min(limit, 20))

    monkeypatch.setattr(Marquez, "events", once)
    monkeypatch.setattr(pull_module, "events_between", partial(events_between, limit=20))
    return answers


async def _rounds(puller, answers, clock):
    """Return how many rounds it took until one was whole; at most 20."""
    for count in range(1, 21):
        clock.now += timedelta(seconds=10)
        answers.append(1)
        with contextlib.suppress(MarquezError):
            await puller.round()
            return count
    return None


def test_a_round_that_was_interrupted_continues(marquez, engine, scarce):
    """Read 100 events in a few rounds of 20 each, and none twice."""
    clock, taking = Hands(), Taking()

    async def rounds(puller):
        scarce.append(1)
        await puller.round()
        marquez.store([run_event(n, at=NOON + minutes(n)) for n in range(100)])
        clock.now += timedelta(hours=3)
        assert await _rounds(puller, scarce, clock) == 6

    pull(marquez, engine, taking, clock, rounds)

    assert _numbers(taking.bodies) == list(range(100))
    assert counters(engine)["pulled"] == 100


def test_a_late_event_in_an_interrupted_range_is_found(marquez, engine, scarce):
    """Read the range again from the time at which its first round began."""
    clock, taking = Hands(), Taking()

    async def rounds(puller):
        scarce.append(1)
        await puller.round()
        marquez.store([run_event(n, at=NOON + minutes(n)) for n in range(60)])
        clock.now += timedelta(hours=1)
        scarce.append(1)
        with pytest.raises(MarquezError):
            await puller.round()
        marquez.store([run_event(500, at=NOON + minutes(4))])
        assert await _rounds(puller, scarce, clock) == 3
        clock.now += minutes(10)
        assert await _rounds(puller, scarce, clock) is not None

    pull(marquez, engine, taking, clock, rounds)

    assert _numbers(taking.bodies) == [*range(60), 500]


def test_the_position_is_never_beyond_what_landed(marquez, engine, scarce):
    """Store the position up to what the collector has, through an interruption and a kill."""
    clock, taking = Hands(), Taking()

    async def rounds(puller):
        scarce.append(1)
        await puller.round()
        marquez.store([run_event(n, at=NOON + minutes(n)) for n in range(60)])
        clock.now += timedelta(hours=3)
        scarce.append(1)
        with pytest.raises(MarquezError):
            await puller.round()

    pull(marquez, engine, taking, clock, rounds)

    assert _numbers(taking.bodies) == list(range(20))
    through = rows(engine, "SELECT through FROM marquez_pull")
    assert through == [(to_micros(NOON + minutes(19)) - 1_000_000,)]
