import pytest

from service.ingest.marquez import deliver
from service.ingest.marquez import forward as forward_module
from service.ingest.marquez.client import Marquez, SendResult
from tests.fakes.marquez import minutes, run_event
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


def _of_poison(event):
    return event["job"]["name"] == "poison"


def _poisons(runs):
    return [event | {"job": {"namespace": "jobs", "name": "poison"}} for event in lives(runs)]


@pytest.fixture
def small_room(monkeypatch):
    """Send 50 events at once instead of 1,000, as each is sent eight times."""
    monkeypatch.setattr(forward_module, "_MAX_PENDING", 50)
    monkeypatch.setattr(forward_module, "_ROWS_A_READ", 10)


@pytest.mark.usefixtures("small_room")
def test_many_poison_events_in_a_row_stop_nothing(tmp_path, engine, marquez):
    """Deliver events behind 120 poison events, twice the number that is sent at once."""
    marquez.is_poison = _of_poison
    spool(tmp_path, [*_poisons(range(60)), *lives(range(600, 605))])

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 130)

    runs = kinds_of_runs(marquez)
    sound = [run_event(n, at=NOON)["run"]["runId"] for n in range(600, 605)]
    # One that ended may have been sent again, for a sign of life.
    assert [list(dict.fromkeys(runs[run_id])) for run_id in sound] == [["START", "COMPLETE"]] * 5
    assert counters(engine)["set_aside:failed_alone"] == 120


@pytest.mark.usefixtures("small_room")
def test_a_poison_event_delays_its_run_until_it_is_set_aside(tmp_path, engine, marquez):
    """Set it aside, although no other event is sent meanwhile that could succeed."""
    poison, *rest = [run_event(1, at=NOON + minutes(n), kind="RUNNING") for n in range(80)]
    marquez.is_poison = lambda event: event == poison
    spool(tmp_path, [poison, *rest])

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 80)

    assert rows(engine, "SELECT spool_seq, reason FROM marquez_set_aside") == [(1, "failed_alone")]


def test_without_a_sign_of_life_poison_stops_everything(tmp_path, engine, marquez, monkeypatch):
    """Run the mutant: blame no event while none succeeds."""
    monkeypatch.setattr(deliver, "_AWAY_AFTER", 1_000_000)
    poison = run_event(1, at=NOON)
    marquez.is_poison = lambda event: event == poison
    spool(tmp_path, [poison])

    forward(tmp_path, engine, marquez, until=lambda: _tries(marquez, 500) > 100)

    assert rows(engine, "SELECT * FROM marquez_set_aside") == []


def _tries(marquez, status):
    return marquez.seen["POST", "/api/v1/lineage", status]


@pytest.mark.parametrize("what", ["all", "database", "writing"])
def test_in_an_outage_nothing_is_set_aside(tmp_path, engine, marquez, what):
    """Set nothing aside, even if GETs are answered or invalid events are still rejected."""
    marquez.status = 500 if what == "all" else None
    marquez.is_store_down = what == "database"
    marquez.is_poison = lambda _: what == "writing"
    spool(
        tmp_path, [*lives(range(5)), *(run_event(n, at=NOON, producer="") for n in range(50, 70))]
    )

    async def outage():
        await holds(lambda: _tries(marquez, 500) > 300)
        marquez.status, marquez.is_store_down, marquez.is_poison = None, False, lambda _: False

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 30, meanwhile=outage)

    assert counters(engine) == {"forwarded": 10, "set_aside:http_422": 20}


def test_an_answer_to_a_get_is_no_sign_of_life(tmp_path, engine, marquez, monkeypatch):
    """Run the mutant: set all events aside for a database that accepts no writes."""
    post = Marquez.post

    async def by_get(asked, body):
        if b"sign-of-life" not in body:
            return await post(asked, body)
        await asked.events(after=0, before=1_000, limit=1)
        return SendResult("sent")

    monkeypatch.setattr(Marquez, "post", by_get)
    marquez.is_poison = lambda _: True
    spool(tmp_path, lives([1]))

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 2)

    assert counters(engine)["set_aside:failed_alone"] == 2
