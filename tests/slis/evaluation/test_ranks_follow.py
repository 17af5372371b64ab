"""Ranks beside names agree with states and tiers elsewhere, after any write."""

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, delete, insert

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.policy import parse_policy
from lineage.states import DATASET_STATES, TIERS
from slis.evaluation import dataset_policies
from slis.evaluation.dataset_states import StateChanges, change_states
from slis.stream.names.rekey import move_facts
from tests.slis.ranked import marked, most_severe, ranked, ranks_due
from tests.suite.examples import examples

_KEYS = range(5)
_EMPTY = dict.fromkeys(("reason", "evidence", "limit_seconds", "limit_origin", "age_seconds"))
_PAIRS = st.tuples(st.sampled_from(_KEYS), st.sampled_from(("M1", "M2", "M4")))
_JUDGED = st.dictionaries(
    _PAIRS, st.none() | st.sampled_from(DATASET_STATES), min_size=1, max_size=6
)
_DECLARED = st.dictionaries(st.sampled_from(_KEYS), st.sampled_from(TIERS), min_size=1)
_FOLDED = st.lists(st.sampled_from(_KEYS), min_size=2, max_size=3, unique=True)
_DONE = st.one_of(
    st.tuples(st.just("judged"), _JUDGED),
    st.tuples(st.just("declared"), _DECLARED),
    st.tuples(st.just("folded"), _FOLDED),
)


def _empty(catalog: Engine) -> None:
    seen = {"namespace": "n", "first_seen_at": 1, "last_seen_at": 1}
    rows = [{"dataset_key": key, "canonical_key": key, "name": f"d{key}", **seen} for key in _KEYS]
    with exclusive_transaction(catalog) as connection:
        for table in (tables.dataset, tables.dataset_state, tables.dataset_policy, tables.meta):
            connection.execute(delete(table))
        connection.execute(insert(tables.dataset), rows)


def _judge(connection: Connection, found: dict[tuple[int, str], str | None]) -> None:
    """Set each of these states; None: the dataset has no state of that SLI any more."""
    rows = [
        {"dataset_key": key, "sli": sli, "state": state, "since": 1, **_EMPTY}
        for (key, sli), state in found.items()
        if state
    ]
    gone = [pair for pair, state in found.items() if state is None]
    change_states(connection, StateChanges(rows=pa.Table.from_pylist(rows), gone=gone))


def _do(catalog: Engine, what: str, argument) -> None:
    if what == "declared":
        lines = (f"{{match: n/d{key}, tier: {tier}}}" for key, tier in argument.items())
        dataset_policies.renew_policies(catalog, parse_policy(f"datasets: [{', '.join(lines)}]"))
        return
    with exclusive_transaction(catalog) as connection:
        if what == "judged":
            _judge(connection, argument)
        else:
            move_facts(connection, argument[1:], argument[0])


@settings(max_examples=examples(80), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(done=st.lists(_DONE, min_size=1, max_size=8))
def test_ranks_follow_whatever_is_judged_declared_or_folded(catalog, done):
    """Compare after each step, also for a dataset that was judged and folded meanwhile."""
    _empty(catalog)
    for what, argument in done:
        _do(catalog, what, argument)
        with catalog.connect() as connection:
            assert ranked(connection) == ranks_due(connection)
            assert marked(connection) == most_severe(connection)
