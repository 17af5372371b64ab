"""Events of a slab as facts, each known from when it arrived, for instants of the past.

All of a slab lands in the catalog at once, at its end. An instant within it must not know what had
not arrived: so each fact is known from when the event that reports it was received.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
import pyarrow as pa
from sqlalchemy import Connection, Engine, text

from lineage.catalog.rows import pairs_of
from lineage.policy import NO_FOLDS
from lineage.process.clock import DAY_MICROS, HOUR_MICROS, to_micros
from slis.stream.derived.activity import IS_BACKFILL
from slis.stream.derived.contributions import STARTED_AT
from slis.stream.names.spellings import spell

_INSTANT: Final = pa.timestamp("us", tz="UTC")
_WRITE: Final = pa.struct(
    [
        ("written_at", _INSTANT),
        ("root_run_id", pa.string()),
        ("job_namespace", pa.string()),
        ("job_name", pa.string()),
        ("names_input", pa.bool_()),
        ("is_reported", pa.bool_()),
        ("is_streaming", pa.bool_()),
    ]
)
_FAILED: Final = pa.struct(
    [("failed_at", _INSTANT), ("run_id", pa.string()), ("message", pa.string())]
)
ACTIVITY_ARROW: Final = pa.schema(
    [
        ("dataset_key", pa.int64()),
        ("visible_at", _INSTANT),
        ("write", _WRITE),
        ("read_at", _INSTANT),
        ("failed", _FAILED),
        ("started_at", _INSTANT),
    ]
)
"""`sli_schemas.ACTIVITY`, in Arrow."""

# Runs that a slab may report: one that began before it may end in it. `Arrivals.runs` knows.
MAY_BE_REPORTED: Final = "(r.landed_at = :landed_at OR r.last_event_at >= :since)"
_SINCE: Final = DAY_MICROS  # µs before a slab: a clock that is behind by hours says so

_HOUR: Final = HOUR_MICROS  # µs: a root run writes a dataset once an hour

_STOOD = """
    SELECT dataset_key, last_written_at, last_write_root_run_id, last_job_namespace, last_job_name,
        last_write_names_input, last_write_is_reported, last_write_is_streaming, last_read_at,
        last_failed_at, last_failed_run_id, last_failure, last_started_at
    FROM dataset_activity
"""
_WRITES = f"""
    SELECT w.dataset_key, w.written_at, w.root_run_id, w.job_namespace, w.job_name, w.names_input,
        w.is_reported, w.is_streaming
    FROM dataset_write w
    WHERE w.landed_at = :landed_at AND NOT coalesce({IS_BACKFILL}, 1 = 0)
"""  # noqa: S608 - our own words
_RUNS = f"""
    SELECT d.canonical_key AS dataset_key, r.run_id, io.direction, r.failed_at,
        {STARTED_AT} AS started_at,
        io.last_event_at
    FROM run r JOIN run_io io ON io.run_key = r.run_key
    JOIN dataset d ON d.dataset_key = io.dataset_key
    WHERE {MAY_BE_REPORTED}
"""  # noqa: S608 - our own words


class _Run(msgspec.Struct):
    runId: str  # noqa: N815 - the field's name in OpenLineage


class _Root(msgspec.Struct):
    run: _Run


class _Parent(msgspec.Struct):
    root: _Root


class _Facets(msgspec.Struct):
    parent: _Parent | None = None


class _OfRun(msgspec.Struct):
    runId: str  # noqa: N815 - as above
    facets: _Facets


class _Output(msgspec.Struct):
    name: str
    namespace: str = ""


class _Event(msgspec.Struct):
    eventType: str  # noqa: N815 - as above
    eventTime: datetime  # noqa: N815 - as above
    run: _OfRun
    outputs: list[_Output] = []


_Wrote = tuple[int, int, frozenset[int]]
_CANONICAL = text("SELECT dataset_key, canonical_key FROM dataset")
_decode = msgspec.json.Decoder(_Event).decode


class SlabRange(msgspec.Struct, frozen=True):
    """Range of time of a slab, µs. It is merged at its end, which no other slab has."""

    starts_at: int
    ends_at: int


class Arrivals:
    """Arrival time of each fact, µs.

    Attributes:
        of_event: by run id and type of event, the first of them.
        of_write: by root run id and hour, the COMPLETEs that name outputs: arrival, time, and the
            keys of the outputs by their names.
        of_run: by run id, its last event.
    """

    def __init__(self, events: Iterable[tuple[int, bytes]]) -> None:
        """Read the contents of `events`, as (received_at, body)."""
        self.of_event: dict[tuple[str, str], int] = {}
        self.of_write: dict[tuple[str, int], list[_Wrote]] = {}
        self.of_run: dict[str, int] = {}
        for received_at, body in events:
            event = _decode(body)
            self.of_run[event.run.runId] = received_at
            self.of_event.setdefault((event.run.runId, event.eventType), received_at)
            if event.eventType == "COMPLETE" and event.outputs:
                parent = event.run.facets.parent
                root = event.run.runId if parent is None else parent.root.run.runId
                time = to_micros(event.eventTime)
                keys = frozenset(_key_of(each) for each in event.outputs)
                wrote = received_at, time, keys
                self.of_write.setdefault((root, time // _HOUR), []).append(wrote)

    def runs(self, connection: Connection, query: str, slab: SlabRange) -> list[dict[str, Any]]:
        """Return rows of runs that events of the slab reported; see `MAY_BE_REPORTED`."""
        given = {"landed_at": slab.ends_at, "since": slab.starts_at - _SINCE}
        found = connection.execute(text(query), given).mappings()
        return [dict(row) for row in found if row["run_id"] in self.of_run]


def _key_of(output: _Output) -> int:
    return spell(output.namespace, output.name, NO_FOLDS).dataset_key


def stood(engine: Engine, at: int) -> pa.Table:
    """Return `ACTIVITY_ARROW` of what the catalog holds before a slab, known from `at` on, µs."""
    with engine.connect() as connection:
        rows = [dict(row) for row in connection.execute(text(_STOOD)).mappings()]
    return _table(_stood_row(row, at) for row in rows)


def collect_arrivals(engine: Engine, slab: SlabRange, arrivals: Arrivals) -> pa.Table:
    """Return `ACTIVITY_ARROW` of a slab that was merged.

    Args:
        engine: of the catalog.
        slab: its times.
        arrivals: when its events came.
    """
    with engine.connect() as connection:
        written = connection.execute(text(_WRITES), {"landed_at": slab.ends_at}).mappings()
        writes = [dict(row) for row in written]
        canonical = pairs_of(connection.execute(_CANONICAL))
        runs = arrivals.runs(connection, _RUNS, slab)
    found = (each for row in writes for each in _write_rows(row, arrivals, canonical))
    return _table([*found, *(each for row in runs for each in _run_rows(row, arrivals))])


def _table(rows: Iterable[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(
        [dict.fromkeys(ACTIVITY_ARROW.names) | row for row in rows], ACTIVITY_ARROW
    )


def _stood_row(row: Mapping[str, Any], at: int) -> dict[str, object]:
    fact: dict[str, object] = {"dataset_key": row["dataset_key"], "visible_at": at}
    fact |= {"read_at": row["last_read_at"], "started_at": row["last_started_at"]}
    if row["last_written_at"] is not None:
        fact["write"] = _write(
            row["last_written_at"],
            row["last_write_root_run_id"],
            (row["last_job_namespace"], row["last_job_name"]),
            [row[f"last_write_{name}"] for name in ("names_input", "is_reported", "is_streaming")],
        )
    if row["last_failed_at"] is not None:
        failed = row["last_failed_at"], row["last_failed_run_id"], row["last_failure"]
        fact["failed"] = dict(zip(("failed_at", "run_id", "message"), failed, strict=True))
    return fact


def _write(at: int, root: str, job: tuple[str, str], flags: Iterable[object]) -> dict[str, object]:
    names = ("names_input", "is_reported", "is_streaming")
    marks = dict(zip(names, map(bool, flags), strict=True))
    return {
        "written_at": at,
        "root_run_id": root,
        "job_namespace": job[0],
        "job_name": job[1],
    } | marks


def _write_rows(
    row: Mapping[str, Any], arrivals: Arrivals, canonical: Mapping[int, int]
) -> Iterator[dict[str, object]]:
    """Yield the writes of one row of the catalog, each with the time at which it became known.

    The catalog has one row for an hour of an application, with the last time that was reported.
    The application may have written before in that hour. A clock that is behind reports an hour
    again, hours later.
    """
    flags = [row[name] for name in ("names_input", "is_reported", "is_streaming")]
    job, written_at = (row["job_namespace"], row["job_name"]), row["written_at"]
    *earlier, (known_at, _) = _list_completes(row, arrivals, canonical)
    for visible_at, at in [*earlier, (known_at, written_at)]:
        write = _write(min(at, written_at), row["root_run_id"], job, flags)
        yield {"dataset_key": row["dataset_key"], "visible_at": visible_at, "write": write}


def _list_completes(
    row: Mapping[str, Any], arrivals: Arrivals, canonical: Mapping[int, int]
) -> list[tuple[int, int]]:
    """Return arrival and time of each COMPLETE that reports a write, in the order of arrival."""
    reported = arrivals.of_write.get((row["root_run_id"], row["written_at"] // _HOUR), [])
    key = row["dataset_key"]
    own = {(at, time) for at, time, keys in reported if key in {canonical.get(k, k) for k in keys}}
    # No name matches, as after a rename: the last COMPLETE of the hour reports the write.
    last = max((one[:2] for one in reported), default=(row["written_at"], row["written_at"]))
    return sorted(own) or [last]


def _run_rows(row: Mapping[str, Any], arrivals: Arrivals) -> Iterable[dict[str, object]]:
    """Return the facts of a run: its read, or the start and the failure of a writer."""
    own = {"dataset_key": row["dataset_key"]}
    run_id = row["run_id"]

    def known_at(kind: str, at: int) -> dict[str, object]:
        return own | {"visible_at": arrivals.of_event.get((run_id, kind), at)}

    if row["direction"] == "read":
        yield known_at("START", row["last_event_at"]) | {"read_at": row["last_event_at"]}
        return
    if row["started_at"] is not None:
        yield known_at("START", row["started_at"]) | {"started_at": row["started_at"]}
    if row["failed_at"] is not None:
        failed = {"failed_at": row["failed_at"], "run_id": run_id, "message": None}
        yield known_at("FAIL", row["failed_at"]) | {"failed": failed}
