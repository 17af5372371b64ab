"""Stop of the service role: slow work ends early, and begins no further run."""

from threading import Event
from types import SimpleNamespace

from sqlalchemy import func, select

from lineage.catalog import deleting, tables
from lineage.catalog.engine import write_transaction
from service import __main__ as role
from service.runtime import periodic
from service.runtime.periodic import Retention
from service.runtime.settings import Settings
from tests.lineage.catalog.test_retention import NOW, ago, put

_OLD = 25
_A_SLICE = 10


def _fill(catalog):
    for days in range(_OLD):
        put(catalog, tables.served_hour, hour=ago(500 + days))


def _left(catalog):
    with catalog.connect() as connection:
        return connection.scalar(select(func.count()).select_from(tables.served_hour))


def test_a_stop_ends_the_deletion_after_the_slice_that_goes_on(catalog, monkeypatch):
    """Leave the other rows to the next run, which deletes them."""
    monkeypatch.setattr(deleting, "_ROWS", _A_SLICE)
    stopping, began = Event(), []

    def write(engine):
        began.append(engine)
        stopping.set()
        return write_transaction(engine)

    monkeypatch.setattr(periodic, "write_transaction", write)
    _fill(catalog)
    Retention(Settings(), lambda: NOW, stopping)(catalog)

    assert (len(began), _left(catalog)) == (1, _OLD - _A_SLICE)
    monkeypatch.undo()
    Retention(Settings(), lambda: NOW, Event())(catalog)
    assert _left(catalog) == 0


def _jobs_of_leader():
    """Return what builds the tasks of each job, and its schedule."""
    given = SimpleNamespace(settings=Settings(), routing=None, delivery=None)
    guard = SimpleNamespace(policy=SimpleNamespace(standing=None, current=None))
    made = role._of_leader(given, guard, lambda *job, **schedule: (job, schedule), None)  # noqa: SLF001
    return {job[0]: (job[-1], schedule) for job, schedule in made}


def test_the_role_interrupts_its_retention_when_it_stops(embedded):
    """Delete nothing more once the job was interrupted, also as a leader of a later epoch."""
    build, schedule = _jobs_of_leader()["retention"]
    _fill(embedded)

    schedule["interrupt"]()
    for task in build():
        task(embedded)

    assert _left(embedded) == _OLD


def test_only_what_is_recorded_or_sent_runs_again_at_the_stop():
    """Leave slow work to the next leader, which takes the lease after the last of these runs."""
    jobs = _jobs_of_leader().items()

    at_stop = {name for name, (_, schedule) in jobs if schedule.get("runs_at_stop")}
    assert at_stop == {"audit", "incidents"}
