import pytest

from service.ingest.marquez import deliver
from service.ingest.marquez import forward as forward_module
from service.ingest.marquez.client import Marquez, Verdict
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
    """50 events on their way at once, in place of 1,000: the tests send each eight times."""
    monkeypatch.setattr(forward_module, "_MAX_PENDING", 50)
    monkeypatch.setattr(forward_module, "_ROWS_A_READ", 10)


@pytest.mark.usefixtures("small_room")
def test_what_fails_in_a_row_without_end_stops_nothing(tmp_path, engine, marquez):
    """120 poison events, twice what may be on its way at once: what comes behind arrives."""
    marquez.is_poison = _of_poison
    spool(tmp_path, [*_poisons(range(60)), *lives(range(600, 605))])

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 130)

    runs = kinds_of_runs(marquez)
    sound = [run_event(n, at=NOON)["run"]["runId"] for n in range(600, 605)]
    # One that ended may have been sent again, for a sign of life.
    assert [list(dict.fromkeys(runs[run_id])) for run_id in sound] == [["START", "COMPLETE"]] * 5
    assert counters(engine)["set_aside:failed_alone"] == 120


@pytest.mark.usefixtures("small_room")
def test_a_poison_before_many_of_its_run_holds_them_up_for_a_while(tmp_path, engine, marquez):
    """Nothing else is on its way that could pass, until the poison is set aside."""
    poison, *rest = [run_event(1, at=NOON + minutes(n), kind="RUNNING") for n in range(80)]
    marquez.is_poison = lambda event: event == poison
    spool(tmp_path, [poison, *rest])

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 80)

    assert rows(engine, "SELECT spool_seq, reason FROM marquez_set_aside") == [(1, "failed_alone")]


def test_without_a_sign_of_life_they_stop_everything(tmp_path, engine, marquez, monkeypatch):
    """The mutant: as nothing passes, nothing is at fault."""
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
    """Not where it answers GETs all the same, nor where it goes on rejecting what is no event."""
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


def test_an_answer_to_a_get_would_be_no_sign_of_life(tmp_path, engine, marquez, monkeypatch):
    """The mutant: all that is there would be set aside for a database that takes no writes."""
    post = Marquez.post

    async def by_get(asked, body):
        if b"sign-of-life" not in body:
            return await post(asked, body)
        await asked.events(after=0, before=1_000, limit=1)
        return Verdict("sent")

    monkeypatch.setattr(Marquez, "post", by_get)
    marquez.is_poison = lambda _: True
    spool(tmp_path, lives([1]))

    forward(tmp_path, engine, marquez, until=lambda: cursor(engine) == 2)

    assert counters(engine)["set_aside:failed_alone"] == 2
