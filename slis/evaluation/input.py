"""Input of an evaluation from the catalog: one row a dataset, and events not counted yet."""

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import cached_property

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sqlalchemy import Connection, Engine, text

from lineage.catalog.queries import (
    LIMIT_IN_FORCE,
    ROOTS_OF_UNREAD_SQL,
    WITH_RETIREMENT,
    is_listed,
    key_list,
)
from lineage.policy import DEFAULT, Policy
from lineage.policy.tiers import MIN_RUNS
from lineage.process.clock import from_micros, to_micros
from lineage.sli_limits import MAX_COUNTED_SECONDS
from slis.cadence.working_time import off_spans, working_time
from slis.evaluation import catalog_frames
from slis.evaluation.ingestion_gaps import SILENCES, our_gaps
from slis.evaluation.sli_schemas import (
    DATASETS,
    EDGES,
    GAPS,
    INSTANTS,
    PAUSES,
)
from slis.evaluation.watched_evidence import COLUMNS, evidence_joins
from slis.spark.planning import local_rows

# The longest a gap of ours still excuses anything. Two cycles of a yearly job are longer.
_GAP_DAYS = 60
# Writes older than a limit may be, and deadlines as far ahead as anybody looks.
_PAUSES_BEFORE, _PAUSES_AFTER = timedelta(days=400), timedelta(days=60)
_PLANS = "SELECT DISTINCT plan FROM dataset_policy WHERE plan IS NOT NULL"

_ROWS = f"""
    {DATASETS.strip()},
    written_at timestamp, root_run_id string, job_namespace string, job_name string,
    names_input boolean, is_reported boolean, write_is_streaming boolean,
    read_at timestamp, failed_at timestamp, failed_run_id string, failure string,
    started_at timestamp,
    as_of timestamp
"""
_DATASETS = """
    SELECT d.dataset_key, d.namespace, d.name, d.first_seen_at, p.tier, p.tier_origin, p.is_source,
        p.is_generated, p.is_streaming, p.is_declared, coalesce(p.is_expected, 1 = 1),
        p.declared_limit_seconds, l.limit_seconds, l.cadence_seconds, l.cadence_class,
        l.duration_seconds, l.gaps, {job_seen_at}, {logs_read_at}, p.plan, {created_at},
        {app_columns},
        {written_at}, a.last_write_root_run_id, a.last_job_namespace, a.last_job_name,
        {names_input}, a.last_write_is_reported, a.last_write_is_streaming,
        {read_at}, a.last_failed_at, a.last_failed_run_id, a.last_failure, {started_at}, {as_of}
    FROM dataset d
    JOIN dataset_policy p ON p.dataset_key = d.dataset_key
    LEFT JOIN dataset_activity a ON a.dataset_key = d.dataset_key
    LEFT JOIN dataset_limit l ON l.dataset_key = d.dataset_key
    {evidence}
    {retirement}
    WHERE {listed} AND t.dataset_key IS NULL {chosen}
"""
# As long as the SQL of a run that wrote it is to be read, it may name the inputs.
# Few runs have such SQL: a root run may have 100,000 runs, which each dataset would read again.
_NAMES_INPUT = f"""
    a.last_write_names_input OR coalesce(a.last_write_root_run_id IN (
        {ROOTS_OF_UNREAD_SQL}), 1 = 0)
"""
_GAPS = f"{SILENCES} WHERE ended_at IS NULL OR ended_at >= {{since}}"
# Only edges that may matter are read: all of a large graph's would take longer than all else.
_INTO_STREAMS = """
    SELECT DISTINCT e.upstream_key, e.downstream_key FROM edge e
    WHERE e.downstream_key IN (
        SELECT dataset_key FROM dataset_policy WHERE is_streaming
        UNION SELECT dataset_key FROM dataset_activity WHERE last_write_is_streaming)
"""
_INTO_CHOSEN = """
    SELECT DISTINCT e.upstream_key, e.downstream_key FROM edge e
    WHERE e.runs >= {least} AND e.downstream_key IN ({keys})
"""
_OUT_OF_OVERDUE = f"""
    SELECT DISTINCT e.upstream_key, e.downstream_key FROM edge e
    WHERE e.runs >= {MIN_RUNS} AND e.upstream_key IN (
        SELECT p.dataset_key FROM dataset_policy p
        LEFT JOIN dataset_activity a ON a.dataset_key = p.dataset_key
        LEFT JOIN dataset_limit l ON l.dataset_key = p.dataset_key
        WHERE coalesce(a.last_written_at, 0) < {{as_of}} - 1e6 * {LIMIT_IN_FORCE})
"""  # noqa: S608 - ours
# By the index on the number, from the newest on: a catalog may have ten million batches.
_LANDED_BY = "SELECT last_seq FROM batch WHERE landed_at <= :at ORDER BY last_seq DESC LIMIT 1"
Pause = tuple[str, list[tuple[int, int]]]


def _now_at_most(column: str, as_of: int) -> str:
    """Clamp facts of a clock up to 5 minutes ahead: they are of now, never of the future."""
    return f"CASE WHEN a.{column} > {as_of} THEN {as_of} ELSE a.{column} END"


def read_rows(engine: Engine, as_of: datetime, keys: Collection[int] | None = None) -> pa.Table:
    """Return one row a dataset that is neither retired nor known under another name.

    Args:
        engine: of the catalog.
        as_of: facts of a clock ahead are of this time.
        keys: of the datasets; None: all.
    """
    # Instants are in the query, not literals of the plan: code that Spark generated for one
    # evaluation then serves the next.
    now = to_micros(as_of)
    times = ("written_at", "read_at", "started_at")
    clamped = {name: _now_at_most(f"last_{name}", now) for name in times}
    found = {
        "names_input": _NAMES_INPUT,
        "evidence": evidence_joins(keys),
        "chosen": "" if keys is None else f"AND d.dataset_key IN ({key_list(keys)})",
    }
    query = _DATASETS.format(
        as_of=now, listed=is_listed(), retirement=WITH_RETIREMENT, **clamped, **found, **COLUMNS
    )
    return catalog_frames.read_frame(engine, query, _ROWS)


def stream_keys(rows: pa.Table) -> set[int]:
    """Return the datasets of `EvaluationInput.rows` that may be streams."""
    is_stream = pc.or_kleene(rows["is_streaming"], rows["write_is_streaming"])
    return set(rows["dataset_key"].filter(is_stream).to_pylist())


def read_excuses(engine: Engine, as_of: datetime, backlog_since: datetime | None) -> pa.Table:
    """Return rows of `sli_schemas.GAPS`: the collector's, and the pipeline's own if it lags."""
    query = _GAPS.format(since=to_micros(as_of - timedelta(days=_GAP_DAYS)))
    return our_gaps(catalog_frames.read_frame(engine, query, GAPS), backlog_since)


def list_pauses(
    engine: Engine,
    policy: Policy,
    as_of: datetime,
    *,
    before: timedelta = _PAUSES_BEFORE,
    after: timedelta = _PAUSES_AFTER,
) -> list[Pause]:
    """Return rows of `sli_schemas.PAUSES`, of the plans that datasets have.

    They are of whole days: between two midnights they stay as they are.

    Args:
        engine: of the catalog.
        policy: in force.
        as_of: now.
        before: no write that is looked at is older than this.
        after: no deadline is further ahead.
    """
    if not policy.calendars and not policy.suppressions:
        return []
    with engine.connect() as connection:
        plans = sorted(connection.scalars(text(_PLANS)))
    first, last = _midnight(as_of - before), _midnight(as_of + after) + timedelta(days=1)
    return [
        (plan, [(to_micros(start), to_micros(end)) for start, end in spans])
        for plan in plans
        if (spans := off_spans(working_time(policy, plan), first, last))
    ]


def _midnight(instant: datetime) -> datetime:
    return instant.replace(hour=0, minute=0, second=0, microsecond=0)


class EvaluationRange(msgspec.Struct, frozen=True):
    """Progress of the last evaluation, and how far events had landed by this one."""

    as_of: datetime
    previous_as_of: datetime | None
    after_seq: int
    last_seq: int

    @property
    def seconds(self) -> float:
        """Time that this evaluation answers for: at most a minute, none for the first."""
        if self.previous_as_of is None:
            return 0.0
        return min(MAX_COUNTED_SECONDS, (self.as_of - self.previous_as_of).total_seconds())


def range_of_evaluation(connection: Connection, as_of: datetime) -> EvaluationRange:
    """Return the range of an evaluation at `as_of`, or just after the last one if that is later."""
    last = connection.execute(
        text("SELECT as_of, last_seq FROM evaluation ORDER BY as_of DESC LIMIT 1")
    ).first()
    at = to_micros(as_of) if last is None else max(to_micros(as_of), last.as_of + 1)
    after_seq = 0 if last is None else last.last_seq
    landed = connection.scalar(text(_LANDED_BY), {"at": at})
    return EvaluationRange(
        as_of=from_micros(at),
        previous_as_of=None if last is None else from_micros(last.as_of),
        after_seq=after_seq,
        last_seq=max(after_seq, landed or 0),
    )


class EvaluationInput:
    """Frames of what an evaluation reads from the catalog."""

    def __init__(  # noqa: PLR0913 - the last two by name
        self,
        spark: SparkSession,
        engine: Engine,
        at: EvaluationRange,
        policy: Policy = DEFAULT,
        *,
        keys: Collection[int] | None = None,
        rows: pa.Table | None = None,
    ) -> None:
        """Read one row a dataset.

        Args:
            spark: the session.
            engine: of the catalog.
            at: the range that is evaluated.
            policy: in force.
            keys: of the datasets to read; None: all.
            rows: of these datasets, where they were read already.
        """
        self._spark = spark
        self._keys = keys
        self._policy = policy
        self._engine = engine
        self._at = at
        self.rows = read_rows(engine, at.as_of, keys) if rows is None else rows
        """One row a dataset that is neither retired nor known under another name."""
        frame = catalog_frames.small_frame(spark, self.rows, _ROWS)
        self._rows = frame if keys is None else frame.coalesce(1)  # few rows: no shuffle
        self._described = self._rows.columns[: self._rows.columns.index("written_at")]

    @cached_property
    def instants(self) -> DataFrame:
        """`sli_schemas.INSTANTS`: the one instant."""
        return local_rows(self._spark, [(self._at.as_of,)], INSTANTS)

    def _edges(self, query: str) -> DataFrame:
        edges = catalog_frames.read_frame(self._engine, query, EDGES)
        return catalog_frames.small_frame(self._spark, edges, EDGES)

    def datasets(self) -> DataFrame:
        """Return `sli_schemas.DATASETS`: those neither retired nor known under another name."""
        return self._rows.select(*self._described)

    def known(self) -> DataFrame:
        """Return `sli_schemas.KNOWN`: the catalog holds what is known now, nothing is folded."""
        fields = ("root_run_id", "job_namespace", "job_name", "names_input", "is_reported")
        streaming = F.col("write_is_streaming").alias("is_streaming")
        write = F.struct("written_at", *fields, streaming)
        message = F.col("failure").alias("message")
        failed = F.struct("failed_at", F.col("failed_run_id").alias("run_id"), message)
        return self._rows.where("first_seen_at <= as_of").select(
            "as_of",
            *self._described,
            F.when(F.col("written_at").isNotNull(), write).alias("write"),
            "read_at",
            F.when(F.col("failed_at").isNotNull(), failed).alias("failed"),
            "started_at",
        )

    def edges_into_streams(self) -> DataFrame:
        """Return `sli_schemas.EDGES`: the inputs of streams, whether they are idle."""
        if self._keys is None:
            return self._edges(_INTO_STREAMS)
        streams = key_list(stream_keys(self.rows))
        return self._edges(_INTO_CHOSEN.format(keys=streams, least=0))

    def edges_out_of_overdue(self) -> DataFrame:
        """Return `sli_schemas.EDGES`: what an overdue dataset makes late, over expected edges."""
        if self._keys is not None:
            keys = key_list(self._keys)
            return self._edges(_INTO_CHOSEN.format(keys=keys, least=MIN_RUNS))
        as_of = to_micros(self._at.as_of)
        return self._edges(_OUT_OF_OVERDUE.format(as_of=as_of))

    def gaps(self, backlog_since: datetime | None) -> DataFrame:
        """Return `sli_schemas.GAPS`: the collector's, and the pipeline's own if it lags."""
        return self._spark.createDataFrame(
            read_excuses(self._engine, self._at.as_of, backlog_since), GAPS
        )

    def pauses(
        self, *, before: timedelta = _PAUSES_BEFORE, after: timedelta = _PAUSES_AFTER
    ) -> DataFrame | None:
        """Return `sli_schemas.PAUSES`, as `list_pauses` gives them; None where there are none."""
        as_of = self._at.as_of
        rows = list_pauses(self._engine, self._policy, as_of, before=before, after=after)
        return local_rows(self._spark, rows, PAUSES) if rows else None
