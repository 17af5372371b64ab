"""Replay of one slab after the other: merged by the stream's own code, judged, learned from."""

import time
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Connection, Engine, text

from lab.replay import grid
from lab.replay.arrivals import MAY_BE_REPORTED, Arrivals, SlabRange, collect_arrivals, stood
from lineage.policy import Policy
from lineage.policy.tiers import MIN_RUNS
from lineage.process.clock import from_micros, to_micros
from slis.cadence.learning import learn_limits
from slis.evaluation import catalog_frames, dataset_policies
from slis.evaluation.input import EvaluationInput, EvaluationRange
from slis.evaluation.policy_names import renew_names
from slis.evaluation.retirement import retire_unused
from slis.evaluation.sli_schemas import ACTIVITY, EDGES
from slis.indicators.quality.evaluate import defects_found
from slis.settings import PipelineSettings, SharedPaths
from slis.stream.landing import BatchLanding
from slis.stream.log.gaps import copy_gaps
from slis.stream.log.spool_reader import BatchLimits

MAX_ROWS: Final = 50_000  # events a batch
_DAY, _AHEAD = timedelta(days=1), timedelta(days=15)
_EXPECTED = f"""
    SELECT DISTINCT upstream_key, downstream_key FROM edge WHERE runs >= {MIN_RUNS}
"""  # noqa: S608 - a number of ours
# Of the catalog at the end of a slab, whole; of runs those that it reported, and that write.
STANDING: Final = ("dataset", "dataset_policy", "dataset_limit", "edge", "ingestion_gap")
_WRITING = f"""{MAY_BE_REPORTED} AND EXISTS (
    SELECT 1 FROM run_io o WHERE o.run_key = r.run_key AND o.direction = 'write')
"""  # noqa: S608 - our own words, as below
_RUNS = f"SELECT r.* FROM run r WHERE {_WRITING}"  # noqa: S608
_RUN_IO = f"""
    SELECT io.*, r.run_id FROM run_io io JOIN run r ON r.run_key = io.run_key WHERE {_WRITING}
"""  # noqa: S608


class JudgedRows(msgspec.Struct, frozen=True):
    """Result of a slab.

    Attributes:
        changes: `grid.CHANGES`, by instant.
        activity: `arrivals.ACTIVITY_ARROW` of what arrived in it.
        tables: rows of the catalog by table: `STANDING` as of its end, and `run`, with the instant
            at which each was known whole as `visible_at`, and `run_io` of these.
        seconds: of each step.
    """

    changes: pa.Table
    activity: pa.Table
    tables: dict[str, pa.Table]
    seconds: dict[str, float]


class _Laps:
    """Seconds of each step."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self.seconds: dict[str, float] = {}

    def end(self, step: str) -> None:
        now = time.monotonic()
        self.seconds[step], self._began = round(now - self._began, 3), now


class SlabReplay:
    """Catalog of its own, and a clock that stands at the end of the current slab."""

    def __init__(
        self, spark: SparkSession, engine: Engine, place: SharedPaths, policy: Policy
    ) -> None:
        self._spark = spark
        self._engine = engine
        self._place = place
        self._policy = policy
        self._now = self._began = from_micros(0)

    def begin(self, at: int) -> None:
        """Create what the policy names, from then on, µs."""
        self._began = from_micros(at)
        renew_names(self._engine, self._policy, self._began)

    def slab(
        self, starts_at: int, ends_at: int, arrivals: Arrivals, *, teaches_only: bool = False
    ) -> JudgedRows:
        """Merge what the spool holds, and judge each minute from `starts_at` to `ends_at`, µs.

        Limits are those that were known when it began. A slab that only teaches has no changes.
        """
        laps = _Laps()
        before = stood(self._engine, starts_at)
        self._land(ends_at)
        laps.end("merged")
        now = from_micros(ends_at)
        retire_unused(self._engine, self._policy, now)
        renew_names(self._engine, self._policy, now)
        dataset_policies.renew_policies(self._engine, self._policy)
        copy_gaps(self._place.spool, self._engine, ends_at)
        laps.end("renewed")
        slab = SlabRange(starts_at, ends_at)
        fresh = collect_arrivals(self._engine, slab, arrivals)
        known = pa.concat_tables([before, fresh])
        found = _no_changes() if teaches_only else self._changes(known, starts_at, ends_at)
        laps.end("judged")
        learn_limits(self._spark, self._engine, now, policy=self._policy)
        laps.end("learned")
        ordered = found.sort_by([("as_of", "ascending")])
        tables = self._tables(slab, arrivals)
        laps.end("kept")
        return JudgedRows(ordered, fresh, tables, laps.seconds)

    def _tables(self, slab: SlabRange, arrivals: Arrivals) -> dict[str, pa.Table]:
        with self._engine.connect() as connection:
            rows = {name: _rows(connection, f"SELECT * FROM {name}") for name in STANDING}  # noqa: S608 - names of ours
            rows["run"] = [
                row | {"visible_at": arrivals.of_run[row["run_id"]]}
                for row in arrivals.runs(connection, _RUNS, slab)
            ]
            rows["run_io"] = [
                {name: value for name, value in row.items() if name != "run_id"}
                for row in arrivals.runs(connection, _RUN_IO, slab)
            ]
        return {name: pa.Table.from_pylist(rows) for name, rows in rows.items()}

    def _land(self, ends_at: int) -> None:
        self._now = from_micros(ends_at)
        if not self._place.spool.exists():
            return
        landing = BatchLanding(
            self._engine,
            self._place,
            limits=BatchLimits(MAX_ROWS, PipelineSettings().max_bytes),
            clock=lambda: self._now,
            policy=lambda: self._policy,
        )
        landing.work_off()

    def _changes(self, activity: pa.Table, starts_at: int, ends_at: int) -> pa.Table:
        now = from_micros(ends_at)
        at = EvaluationRange(now, from_micros(starts_at), 0, 0)
        given = EvaluationInput(self._spark, self._engine, at, self._policy)
        minutes = grid.instants(self._spark, starts_at, ends_at)
        frames = grid.SlabFrames(
            activity=self._spark.createDataFrame(activity, ACTIVITY),
            datasets=given.datasets(),
            into_streams=given.edges_into_streams(),
            expected=catalog_frames.frame(self._spark, self._engine, _EXPECTED, EDGES),
            gaps=given.gaps(None),
            # Each minute of each dataset folds over all of them: no more than can matter.
            pauses=given.pauses(before=now - self._began + _DAY, after=_AHEAD),
        )
        judged = grid.changes(frames, minutes)
        content = self._of_content(at, minutes)
        self._spark.catalog.clearCache()
        return pa.concat_tables([judged, *(each.cast(judged.schema) for each in content)])

    def _of_content(self, at: EvaluationRange, minutes: DataFrame) -> list[pa.Table]:
        """Return the first instant of each defect, and the first without it."""
        found = defects_found(self._spark, self._engine, self._policy, at, minutes)
        last = to_micros(at.as_of) - grid.MINUTE
        return [_edges_of(each, from_micros(last)) for each in found]


def _rows(connection: Connection, query: str) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(text(query)).mappings()]


def _no_changes() -> pa.Table:
    return catalog_frames.arrow_schema(grid.CHANGES).empty_table()


def _edges_of(states: pa.Table, last: datetime) -> pa.Table:
    """Return `CHANGES` of states that have a row at each instant at which they hold."""
    rows: dict[tuple[int, str | None], list[dict[str, object]]] = {}
    for row in states.sort_by([("as_of", "ascending")]).to_pylist():
        rows.setdefault((row["dataset_key"], row["reason"]), []).append(row)
    names = [part.split()[0] for part in grid.CHANGES.split(",")]
    found = []
    for held in rows.values():
        found.append({name: held[0].get(name) for name in names})
        ended = held[-1]["as_of"]
        if isinstance(ended, datetime) and ended < last:
            over = {"as_of": ended + timedelta(minutes=1), "state": "good", "reason": None}
            found.append({name: held[-1].get(name) for name in names} | over | {"evidence": None})
    return pa.Table.from_pylist(found, catalog_frames.arrow_schema(grid.CHANGES))
