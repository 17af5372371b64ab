"""Catalog that is brought, instant by instant, to what a service would have found in it.

The incident step reads a catalog. This one has no pipeline: it holds at each instant the states and
facts that were known then, out of what `replayed` kept, so that the very code that runs in
production can be walked over a month in minutes.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
from sqlalchemy import Connection, Engine, Table, delete, insert, text

from lab.gameday.driver.baseline import read_changes
from lab.gameday.driver.saved_run import SavedSlab
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.queries import split_batches
from lineage.catalog.upsert import fold_rows
from lineage.states import BAD, GOOD, UNKNOWN

_STANDING: Final[Mapping[str, Table]] = {
    "dataset": tables.dataset,
    "dataset_policy": tables.dataset_policy,
    "dataset_limit": tables.dataset_limit,
    "edge": tables.edge,
}
_SERIOUS: Final = frozenset({BAD, UNKNOWN})
_Row = dict[str, Any]


class Stage:
    """Migrated, empty catalog, in which time only goes forward."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._states: dict[tuple[int, str], _Row] = {}
        self._activity: dict[int, _Row] = {}
        self._waiting: list[tuple[int, str, _Row]] = []
        self._gaps: list[_Row] = []
        self._io: dict[int, list[_Row]] = {}
        self._evaluated_at: int | None = None
        self._learned: list[_Row] | None = None

    def enter(self, slab: SavedSlab) -> list[int]:
        """Take a slab up: what stands in it is there at once, what arrives in it waits.

        Returns:
            The instants at which something becomes bad or unknown, or ceases to be, µs, in order.
        """
        if self._waiting:
            # Of the slab before, what came after the last instant at which anybody looked.
            self.bring(self._waiting[0][0])
        changes: list[tuple[int, str, _Row]] = [
            *((row["at"], "state", row) for row in read_changes(slab.changes)),
            *((row["visible_at"], "activity", row) for row in _micros(slab.activity)),
            *((row.pop("visible_at"), "run", row) for row in slab.tables["run"].to_pylist()),
        ]
        self._waiting = sorted(changes, key=lambda each: each[0], reverse=True)
        self._io = _by_run(slab.tables["run_io"])
        self._gaps = slab.tables["ingestion_gap"].to_pylist()
        standing = {name: slab.tables[name].to_pylist() for name in _STANDING}
        # What a slab taught is known from its end on: it is judged by what was known before.
        known, self._learned = self._learned, standing["dataset_limit"]
        standing["dataset_limit"] = self._learned if known is None else known
        with write_transaction(self._engine) as connection:
            for name, table in _STANDING.items():
                _replace(connection, table, standing[name])
        return self._instants(row for _, kind, row in changes if kind == "state")

    def _instants(self, changes: Iterable[_Row]) -> list[int]:
        """Return the instants of changes to or from bad or unknown."""
        was = {key: row["state"] for key, row in self._states.items()}
        found = set()
        for row in sorted(changes, key=lambda each: each["at"]):
            key = row["dataset_key"], row["sli"]
            if row["state"] in _SERIOUS or was.get(key) in _SERIOUS:
                found.add(row["at"])
            was[key] = row["state"]
        return sorted(found)

    def bring(self, at: int) -> None:
        """Bring the catalog to its content after an evaluation at that instant, µs."""
        with write_transaction(self._engine) as connection:
            states, active, runs = [], set(), []
            while self._waiting and self._waiting[-1][0] <= at:
                _, kind, row = self._waiting.pop()
                if kind == "state":
                    states.append(self._state(row))
                elif kind == "activity":
                    active.add(self._fold(row))
                else:
                    runs.append(row)
            self._write(connection, at, states, active, runs)

    def _write(
        self,
        connection: Connection,
        at: int,
        states: list[_Row],
        active: set[int],
        runs: list[_Row],
    ) -> None:
        fold_rows(connection, tables.dataset_state, self._with_worst(states))
        fold_rows(connection, tables.dataset_activity, [self._activity[key] for key in active])
        fold_rows(connection, tables.run, runs)
        io = [each for run in runs for each in self._io.get(run["run_key"], ())]
        fold_rows(connection, tables.run_io, io)
        begun = [row for row in self._gaps if row["started_at"] <= at]
        _replace(connection, tables.ingestion_gap, [_as_of(row, at) for row in begun])
        _evaluated(connection, at, self._evaluated_at)
        self._evaluated_at = at

    def _state(self, row: _Row) -> _Row:
        key = row["dataset_key"], row["sli"]
        before = self._states.get(key)
        is_same = before is not None and before["state"] == row["state"]
        found = {
            "dataset_key": row["dataset_key"],
            "sli": row["sli"],
            "state": row["state"],
            "reason": row["reason"],
            "evidence": row["evidence"],
            "since": before["since"] if before is not None and is_same else row["at"],
            "age_seconds": None,
            "limit_seconds": row["limit_seconds"],
            "limit_origin": row["limit_origin"],
            "was_good": row["state"] == GOOD or (before is not None and before["was_good"]),
            "is_worst": False,
        }
        self._states[key] = found
        return found

    def _with_worst(self, changed: list[_Row]) -> list[_Row]:
        """Write all states of the changed datasets: another one may be the worst now."""
        keys = {row["dataset_key"] for row in changed}
        held = [row for (key, _), row in self._states.items() if key in keys]
        order = (GOOD, "learning", UNKNOWN, BAD)
        for key in keys:
            own = [row for row in held if row["dataset_key"] == key]
            worst = max(own, key=lambda row: (order.index(row["state"]), -row["since"]))
            for row in own:
                row["is_worst"] = row is worst
        return held

    def _fold(self, row: _Row) -> int:
        """Replace older rows by newer ones."""
        key: int = row["dataset_key"]
        held = self._activity.setdefault(
            key, {"dataset_key": key, "writes": 0, "learned_writes": 0} | _NOTHING
        )
        for fact, at, fields in _facts(row):
            if at >= (held[fact] or 0):
                held.update(fields | {fact: at})
        return key


_NOTHING: Final[_Row] = dict.fromkeys(
    (
        *("last_written_at", "last_write_landed_at", "last_write_root_run_id"),
        *("last_write_names_input", "last_write_is_reported", "last_write_is_streaming"),
        *("last_job_namespace", "last_job_name", "last_read_at", "first_read_at"),
        *("last_failed_at", "last_failed_run_id", "last_failure", "last_dropped_at"),
        "last_started_at",
    )
)


def _facts(row: _Row) -> Iterator[tuple[str, int, _Row]]:
    """Yield the instants that a row of activity moves, to when, and the fields beside them."""
    if (write := row["write"]) is not None:
        fields = {f"last_write_{name}": write[name] for name in ("root_run_id", "names_input")}
        fields |= {f"last_write_{name}": write[name] for name in ("is_reported", "is_streaming")}
        fields |= {f"last_{name}": write[name] for name in ("job_namespace", "job_name")}
        fields["last_write_landed_at"] = row["visible_at"]
        yield "last_written_at", write["written_at"], fields
    if (failed := row["failed"]) is not None:
        fields = {"last_failed_run_id": failed["run_id"], "last_failure": failed["message"]}
        yield "last_failed_at", failed["failed_at"], fields
    if row["read_at"] is not None:
        yield "last_read_at", row["read_at"], {}
    if row["started_at"] is not None:
        yield "last_started_at", row["started_at"], {}


def _micros(activity: pa.Table) -> list[_Row]:
    """Return rows with their instants, within structs too, in µs."""
    return list(activity.cast(_with_integers(activity.schema)).to_pylist())


def _with_integers(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(each.name, _integer(each.type)) for each in schema])


def _integer(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.int64()
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(each.name, _integer(each.type)) for each in kind])
    return kind


def _by_run(run_io: pa.Table) -> dict[int, list[_Row]]:
    found: dict[int, list[_Row]] = {}
    for row in run_io.to_pylist():
        found.setdefault(row["run_key"], []).append(row)
    return found


def _as_of(gap: _Row, at: int) -> _Row:
    """Return the gap as it was known at `at`: without an end that came later."""
    is_over = gap["ended_at"] is not None and gap["ended_at"] <= at
    return gap if is_over else gap | {"ended_at": None}


def _replace(connection: Connection, table: Table, rows: list[_Row]) -> None:
    connection.execute(delete(table))
    for some in split_batches(rows):
        connection.execute(insert(table), some)


def _evaluated(connection: Connection, at: int, before: int | None) -> None:
    """Keep the newest: only that one is ever read."""
    connection.execute(text("DELETE FROM evaluation WHERE as_of < :at"), {"at": at})
    row = {"as_of": at, "previous_as_of": before, "last_seq": 0, "policy_hash": ""}
    fold_rows(connection, tables.evaluation, [row | {"datasets": 0, "seconds": 0.0}])
