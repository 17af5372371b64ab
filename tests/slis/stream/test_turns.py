"""Tasks of the pipeline that write at once, on a server that allows it."""

import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial

import pytest
from sqlalchemy import Engine

from lineage.policy import DEFAULT, parse_policy
from slis.evaluation.evaluation import evaluate
from slis.stream.names import canonical
from tests.slis.stream.spools import CANONICAL, Event, Lander, rows, run_event, symlink
from tests.suite.waiting import until

pytestmark = pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
_WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
_CRITICAL = parse_policy("datasets: [{match: n/db.t, tier: critical}]")


class _Thread:
    """Call in a thread of its own, which runs until it waits for this thread."""

    def __init__(self, catalog: Engine, task: Callable[[], object]) -> None:
        self._catalog = catalog
        self._task = task
        self._thread = threading.Thread(target=self._run)
        self.failures: list[Exception] = []

    def _run(self) -> None:
        try:
            self._task()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
            self.failures.append(error)

    def begin(self) -> None:
        """Return as soon as the call waits, or has ended."""
        self._thread.start()
        until(lambda: rows(self._catalog, _WAITING) != [(0,)] or not self._thread.is_alive())

    def end(self) -> None:
        """Wait for its end."""
        self._thread.join()


def _fold_beside(lander: Lander, now: datetime, monkeypatch, beside: _Thread) -> None:
    """Wait with a batch that makes `db.t` another name of `/wh/t`, and has not moved it yet."""
    move = canonical.move_facts

    def moved(connection, old, new) -> None:
        monkeypatch.undo()  # the evaluation may move names too, once it has waited
        beside.begin()
        move(connection, old, new)

    monkeypatch.setattr(canonical, "move_facts", moved)
    written = [("/wh/t", symlink("db.t"))]
    lander.land(run_event("COMPLETE", now, run="r2", outputs=written), _write_event(now, "r3"))
    beside.end()


def _write_event(now: datetime, run: str) -> Event:
    return run_event("COMPLETE", now, run=run, inputs=["in"], outputs=["db.t"])


@pytest.mark.parametrize(
    "judged",
    [(_CRITICAL, 12, "db.t"), (DEFAULT, 999, "/wh/t")],
    ids=["tier", "state"],
)
def test_a_dataset_is_folded_while_an_evaluation_writes(  # noqa: PLR0913, PLR0917 - fixtures
    spark, lander, catalog, at, monkeypatch, judged
):
    """Take rows in the opposite order of the batch; a declared name stays."""
    lander.land(_write_event(at(9), "r1"))
    evaluate(spark, catalog, DEFAULT, at(12))
    policy, hours, dataset = judged
    beside = _Thread(catalog, partial(evaluate, spark, catalog, policy, at(hours)))

    _fold_beside(lander, at(10), monkeypatch, beside)

    assert beside.failures == []
    assert rows(catalog, CANONICAL) == [("/wh/t", dataset), ("db.t", dataset), ("in", "in")]
