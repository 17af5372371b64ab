"""M8 impact analysis: when a dataset turns bad, the list of what it affects is made, and timed.

Until there are incidents, the clock stops when the list is ready in the catalog.
"""

import msgspec
from sqlalchemy import Connection, Engine, delete, update

from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.clock import Clock, to_micros
from lineage.graph import Graph, LiveGraph, open_graph
from lineage.states import IMPACT_ANALYSIS
from service.impact.faults import Fault, changed, newest_evaluation
from service.impact.lists import ImpactList, impact_list
from service.served.keeping import add
from service.served.tallies import IMPACT_BOUNDS, Batch, Outcome, Series

METRIC = "lineage_impact_analysis_seconds"
GOOD_BELOW_SECONDS = 900.0
_SERIES = Series(METRIC, "lineward", "impact", IMPACT_BOUNDS)
_A_TRANSACTION = 50  # lists that are ready together: the first of many must not wait for the last
_KEEP_MICROS = 30 * 86_400_000_000
_SECOND = 1e6


class ImpactAnalyst:
    """Called once a second; works when there is a new evaluation."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._graph: LiveGraph | None = None
        self._done = 0

    def __call__(self, engine: Engine) -> None:
        """Make the lists that the newest evaluation asks for."""
        with engine.connect() as connection:
            evaluated = newest_evaluation(connection)
            if evaluated is None or evaluated[1] == self._done:
                return
            first, as_of = evaluated
            faults = changed(connection, as_of)
        if self._graph is None:
            self._graph = open_graph(engine)
        graph = self._graph.current() if faults.new else None
        for start in range(0, len(faults.new), _A_TRANSACTION):
            some = faults.new[start : start + _A_TRANSACTION]
            if graph is not None:
                self._open(engine, graph, some, as_of=as_of, watching_since=first)
        self._close(engine, faults.over, as_of)
        self._done = as_of

    def _open(
        self, engine: Engine, graph: Graph, faults: list[Fault], *, as_of: int, watching_since: int
    ) -> None:
        with engine.connect() as connection:
            lists = [impact_list(connection, graph.downstream(one.dataset_key)) for one in faults]
        batch = Batch()
        with writing(engine) as connection:
            ready_at = to_micros(self._clock())
            for fault, found in zip(faults, lists, strict=True):
                connection.execute(tables.impact.insert(), _row(fault, found, as_of, ready_at))
                _count(batch, fault, ready_at, watching_since)
            add(connection, batch)

    def _close(self, engine: Engine, over: list[int], as_of: int) -> None:
        if not over:
            return
        with writing(engine) as connection:
            _close(connection, over, as_of)


def outcome_of(fault: Fault, ready_at: int, watching_since: int) -> Outcome:
    """Good under 15 minutes; unknown where we could not have seen the fault when it came."""
    if fault.is_history or fault.fault_at < watching_since:
        return "unknown"
    is_good = (ready_at - fault.fault_at) / _SECOND < GOOD_BELOW_SECONDS
    return "good" if is_good else "bad"


def _count(batch: Batch, fault: Fault, ready_at: int, watching_since: int) -> None:
    outcome = outcome_of(fault, ready_at, watching_since)
    batch.count(IMPACT_ANALYSIS, ready_at, outcome)
    if outcome != "unknown":
        batch.observe(_SERIES, max(0.0, (ready_at - fault.fault_at) / _SECOND))


def _row(fault: Fault, found: ImpactList, as_of: int, ready_at: int) -> dict[str, object]:
    return {
        "dataset_key": fault.dataset_key,
        "opened_at": as_of,
        "fault_at": fault.fault_at,
        "ready_at": ready_at,
        "reason": fault.reason,
        "affected": found.affected,
        "listed": msgspec.json.encode(found.listed).decode(),
        "partial": found.partial,
        "closed_at": None,
    }


def _close(connection: Connection, over: list[int], as_of: int) -> None:
    impact = tables.impact
    is_open = impact.c.closed_at.is_(None)
    for key in over:
        closed = update(impact).where(impact.c.dataset_key == key, is_open)
        connection.execute(closed.values(closed_at=as_of))
    connection.execute(delete(impact).where(impact.c.closed_at < as_of - _KEEP_MICROS))
