"""Ranks by which lists are sorted, compared with the states and tiers behind them."""

from sqlalchemy import Connection, select

from lineage.catalog import tables
from lineage.catalog.queries import NO_TIER, NOT_JUDGED, STATES_BY_SEVERITY
from lineage.states import TIER_RANKS

Ranked = dict[int, tuple[int, int]]  # ranks of state and tier, by dataset
_STATE = tables.dataset_state.c


def ranked(connection: Connection) -> Ranked:
    """Return the ranks as stored with the names."""
    table = tables.dataset.c
    rows = connection.execute(select(table.dataset_key, table.state_rank, table.tier_rank))
    return {key: (of_state, of_tier) for key, of_state, of_tier in rows}


def ranks_due(connection: Connection) -> Ranked:
    """Return the ranks by states and tiers, for the few datasets of a test."""
    graves = most_severe(connection)
    table = tables.dataset_policy.c
    tiers = connection.execute(select(table.dataset_key, table.tier))
    ranks = {key: TIER_RANKS[tier] for key, tier in tiers}
    keys = connection.scalars(select(tables.dataset.c.dataset_key))
    return {key: (graves.get(key, NOT_JUDGED), ranks.get(key, NO_TIER)) for key in keys}


def most_severe(connection: Connection) -> dict[int, int]:
    """Return the rank of the most severe state of each dataset that has any."""
    rows = connection.execute(select(_STATE.dataset_key, _STATE.state))
    ranks = sorted(((STATES_BY_SEVERITY.index(state), key) for key, state in rows), reverse=True)
    return {key: rank for rank, key in ranks}


def marked(connection: Connection) -> dict[int, int]:
    """Return the same of the states that are marked as such."""
    rows = connection.execute(select(_STATE.dataset_key, _STATE.state).where(_STATE.is_worst))
    return {key: STATES_BY_SEVERITY.index(state) for key, state in rows}
