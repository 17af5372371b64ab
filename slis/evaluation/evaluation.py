"""Evaluation: from facts, policy and the clock to SLIs."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.util import inheritable_thread_target
from sqlalchemy import Engine

from lineage.policy import Policy
from lineage.states import FRESHNESS
from slis.cadence.learning import learn_limits
from slis.evaluation import dataset_policies, observation_start
from slis.evaluation.catalog_frames import frame_rows
from slis.evaluation.clock_ahead import undo_ahead
from slis.evaluation.dataset_states import Row, held_states
from slis.evaluation.input import EvaluationInput, EvaluationRange, range_of_evaluation
from slis.evaluation.judge_datasets import count_datasets, datasets_judged
from slis.evaluation.late_writes import amend
from slis.evaluation.policy_names import renew_names
from slis.evaluation.publish import OF_DATASETS, EvaluationRows, publish
from slis.evaluation.reasons import add_reasons
from slis.evaluation.retirement import retire_unused
from slis.indicators import name_explosion as explosion
from slis.indicators.completeness.node_catalog import nodes_found
from slis.indicators.lag import count_lag
from slis.indicators.provenance import judge_reads
from slis.indicators.quality.evaluate import defects_found
from slis.indicators.unsourced_reads import load_unsourced
from slis.spark.planning import computed_once


class EvaluationResult(msgspec.Struct, frozen=True):
    """Result of an evaluation; `states` counts (sli, state) pairs, as `M2 bad`."""

    as_of: datetime
    datasets: int
    states: dict[str, int]
    reads: int
    events: int
    seconds: float


def evaluate(
    spark: SparkSession,
    engine: Engine,
    policy: Policy,
    as_of: datetime,
    *,
    backlog_since: datetime | None = None,
) -> EvaluationResult:
    """Evaluate the catalog and publish what was found.

    Args:
        spark: the session.
        engine: of the catalog.
        policy: in force.
        as_of: now, by the clock that facts land by.
        backlog_since: when the oldest event that has not landed was received; None: none waits.

    Raises:
        OvertakenError: another evaluation published in between; nothing was written.
    """
    started = time.monotonic()
    undo_ahead(engine, as_of)
    retire_unused(engine, policy, as_of)
    renew_names(engine, policy, as_of)
    dataset_policies.renew_policies(engine, policy)
    learn_limits(spark, engine, as_of, policy=policy)
    with engine.connect() as connection:
        at = range_of_evaluation(connection, as_of)
    since = observation_start.renew_start(engine, at)
    given = EvaluationInput(spark, engine, at, policy)
    # What these ask and plan for themselves they do while Spark works on the datasets.
    with ThreadPoolExecutor(thread_name_prefix="evaluation") as beside:
        inherited = inheritable_thread_target(spark)  # its pool, and what cancels its jobs
        held = beside.submit(held_states, engine, OF_DATASETS)
        events = beside.submit(inherited(_events), given, since)
        tallied, judged = _judged(given, backlog_since)
        reads, lags = events.result()
    described = nodes_found(spark, engine, policy, given.instants)
    defects = defects_found(spark, engine, policy, at, given.instants)
    unsourced = load_unsourced(spark, engine, at, given.instants)
    found = EvaluationRows(
        tallies=[*tallied, *described.tallies],
        states=_together(judged, *described.states, *defects, *unsourced),
        held=held.result(),
        reads=reads,
        lags=lags,
        datasets=_datasets(judged),
        policy_hash=policy.hash,
        amended=amend(spark, engine, at, given),
        seconds=time.monotonic() - started,
        backlog_since=backlog_since,
    )
    explosion.renew_explosions(spark, engine, at.as_of)
    publish(engine, at, found)
    return _result(at, found, time.monotonic() - started)


def _judged(given: EvaluationInput, backlog_since: datetime | None) -> tuple[list[Row], pa.Table]:
    """TALLIES and STATES of the SLIs that each dataset has."""
    facts = given.known()
    gaps = given.gaps(backlog_since)
    edges = given.edges_into_streams()
    with computed_once(datasets_judged(facts, edges, gaps, given.pauses())) as judged:
        states = add_reasons(judged, given.edges_out_of_overdue()).toArrow()
        return frame_rows(count_datasets(judged, facts)), states


def _events(given: EvaluationInput, since: datetime | None) -> tuple[list[Row], list[Row]]:
    """READ_OUTCOMES and LAGS of what happened since the last evaluation."""
    datasets, instants = given.datasets(), given.instants
    reads = judge_reads(given.reads(), given.first_writes(), datasets, instants, horizon=since)
    return frame_rows(reads), frame_rows(count_lag(given.events(), instants))


def _together(states: pa.Table, *others: pa.Table) -> pa.Table:
    # Arrow has another type for columns that are never null: frames of one schema may differ in it.
    return pa.concat_tables([states, *(other.cast(states.schema) for other in others)])


def _datasets(states: pa.Table) -> int:
    """Return all datasets: each has a state of freshness, at least `learning`."""
    return int(pc.sum(pc.equal(states.column("sli"), FRESHNESS.id)).as_py() or 0)


def _result(at: EvaluationRange, found: EvaluationRows, seconds: float) -> EvaluationResult:
    pairs = zip(
        found.states.column("sli").to_pylist(),
        found.states.column("state").to_pylist(),
        strict=True,
    )
    return EvaluationResult(
        as_of=at.as_of,
        datasets=found.datasets,
        states=dict(Counter(" ".join(pair) for pair in pairs)),
        reads=len(found.reads),
        events=sum(row["total"] + row["history"] + row["skewed"] for row in found.lags),
        seconds=seconds,
    )
