"""Mark of the state of a dataset that is shown first, for all lists and counts."""

import pyarrow as pa
import pytest
from sqlalchemy import Engine, select

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from slis.evaluation.dataset_states import StateChanges, change_states, held_states, state_changes


def _state(sli: str, state: str, since: int = 1, dataset: int = 7) -> dict[str, object]:
    names = ("reason", "evidence", "limit_seconds", "limit_origin", "age_seconds")
    own = {"dataset_key": dataset, "sli": sli, "state": state, "since": since}
    return {**own, **dict.fromkeys(names)}


def _change(catalog: Engine, *rows: dict[str, object], gone: tuple[str, ...] = ()) -> list[str]:
    changes = StateChanges(rows=pa.Table.from_pylist(rows), gone=[(7, sli) for sli in gone])
    table = tables.dataset_state.c
    with write_transaction(catalog) as connection:
        change_states(connection, changes)
        worst = select(table.sli).where(table.is_worst, table.dataset_key == 7)
        return list(connection.scalars(worst))


@pytest.mark.parametrize(
    ("states", "worst"),
    [
        ([("M1", "good", 1), ("M2", "bad", 9)], "M2"),
        ([("M2", "bad", 1), ("M10", "bad", 1)], "M2"),
        ([("M1", "learning", 1), ("M2", "unknown", 1)], "M2"),
        ([("M1", "learning", 1), ("M2", "good", 9)], "M1"),
        ([("M1", "good", 1), ("M2", "good", 9)], "M2"),
    ],
)
def test_the_most_severe_state_is_marked_and_of_the_good_ones_the_youngest(catalog, states, worst):
    """Sort by severity, then by the SLI's number; show the youngest good one."""
    assert _change(catalog, *(_state(*state) for state in states)) == [worst]


@pytest.mark.postgres_nightly
def test_the_mark_moves_with_the_states(catalog):
    """Mark one state after every change, also where the marked one is gone."""
    elsewhere = _state("M1", "good", dataset=8)
    moves = [
        _change(catalog, _state("M1", "good"), _state("M2", "bad"), elsewhere),
        _change(catalog, _state("M2", "good", 5)),
        _change(catalog, _state("M1", "bad", 6)),
        _change(catalog, gone=("M1",)),
    ]

    assert moves == [["M2"], ["M2"], ["M1"], ["M2"]]


def _judgement(*states: tuple[str, str]) -> pa.Table:
    rows = [{**_state(sli, state), "since": None} for sli, state in states]
    types = {"reason": pa.string(), "evidence": pa.string(), "limit_origin": pa.string()}
    types |= {"limit_seconds": pa.float64(), "age_seconds": pa.float64()}
    fields = [(name, types.get(name, pa.array([rows[0][name]]).type)) for name in rows[0]]
    return pa.Table.from_pylist(rows, pa.schema(fields)).drop_columns(["since"])


@pytest.mark.usefixtures("spark")  # which parses the names of types
def test_a_dataset_that_was_good_once_is_known(catalog, at):
    """Distinguish a gap that was there from the beginning from lineage that stopped."""
    seen = []
    for hour, (coverage, freshness) in enumerate(
        [("bad", "learning"), ("bad", "good"), ("bad", "bad"), ("bad", "unknown")]
    ):
        states = _judgement(("M1", coverage), ("M2", freshness))
        changes = state_changes(held_states(catalog, ("M1", "M2")), at(hour), states)
        with write_transaction(catalog) as connection:
            change_states(connection, changes)
            table = tables.dataset_state.c
            rows = connection.execute(select(table.was_good).order_by(table.sli))
            seen.append([bool(row.was_good) for row in rows])

    assert seen == [[False, False], [False, True], [False, True], [False, True]]
