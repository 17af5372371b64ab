"""Evaluation: from facts, policy and the clock to SLIs."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.util import inheritable_thread_target
from sqlalchemy import Engine

from lineage.policy import Policy
from lineage.states import FRESHNESS
from slis.cadence.learning import learn_limits
from slis.evaluation import dataset_policies, observation_start
from slis.evaluation.clock_ahead import undo_ahead
from slis.evaluation.counters import Amounts
from slis.evaluation.dataset_states import OF_FACTS, OF_QUERIES, FrameRow, held_states
from slis.evaluation.datasets_to_judge import take_changes
from slis.evaluation.estate_judging import EstateOutcome, judge_estate, note_missed
from slis.evaluation.evaluation_memory import EvaluationMemory, load_shared
from slis.evaluation.input import EvaluationRange, range_of_evaluation
from slis.evaluation.judging import Judging
from slis.evaluation.late_writes import amend
from slis.evaluation.policy_memory import PolicyMemory
from slis.evaluation.policy_names import renew_names
from slis.evaluation.publish import EvaluationRows, publish
from slis.evaluation.retirement import retire_unused
from slis.evaluation.sli_schemas import INSTANTS
from slis.evaluation.uncounted_events import count_events
from slis.indicators import name_explosion as explosion
from slis.indicators.completeness.node_catalog import nodes_found
from slis.indicators.quality.evaluate import defects_found
from slis.indicators.unsourced_reads import load_unsourced
from slis.spark.planning import local_rows


class EvaluationResult(msgspec.Struct, frozen=True):
    """Result of an evaluation.

    `states` counts (sli, state) pairs, as `M2 bad`; `phases` are seconds of its parts, in turn.
    """

    as_of: datetime
    datasets: int
    states: dict[str, int]
    reads: int
    events: int
    seconds: float
    phases: dict[str, float]


class _OtherResults(msgspec.Struct, frozen=True):
    """Results of all SLIs but M1 and M2, as in `EvaluationRows`."""

    tallies: list[FrameRow]
    states: tuple[pa.Table, ...]
    reads: list[FrameRow]
    lags: list[FrameRow]
    amended: Amounts


class _Phases:
    """Seconds of the parts of an evaluation."""

    def __init__(self) -> None:
        self.started = self._last = time.monotonic()
        self.seconds: dict[str, float] = {}

    def end(self, name: str) -> None:
        """Note what has passed since the end of the phase before."""
        now = time.monotonic()
        self.seconds[name], self._last = now - self._last, now


def evaluate(  # noqa: PLR0913 - the last two by name
    spark: SparkSession,
    engine: Engine,
    policy: Policy,
    as_of: datetime,
    *,
    backlog_since: datetime | None = None,
    memory: EvaluationMemory | None = None,
) -> EvaluationResult:
    """Evaluate the catalog and publish what was found.

    Args:
        spark: the session.
        engine: of the catalog.
        policy: in force.
        as_of: now, by the clock that facts land by.
        backlog_since: when the oldest event that has not landed was received; None: none waits.
        memory: of this process: only what changed since its last evaluation is judged; None: all.

    Raises:
        OvertakenError: another evaluation published in between; nothing was written.
    """
    phases = _Phases()
    undo_ahead(engine, as_of)
    retire_unused(engine, policy, as_of)
    renew_names(engine, policy, as_of)
    phases.end("names")
    _renew_policies(engine, policy, memory)
    phases.end("policies")
    learn_limits(spark, engine, as_of, policy=policy)
    phases.end("limits")
    with engine.connect() as connection:
        at = range_of_evaluation(connection, as_of)
    since = observation_start.renew_start(engine, at)
    shared = load_shared(engine, policy, at.as_of, backlog_since)
    judging = Judging(spark, engine, at, policy, shared)
    phases.end("input")
    # What these ask and plan for themselves they do while Spark works on the datasets.
    with ThreadPoolExecutor(thread_name_prefix="evaluation") as beside:
        inherited = inheritable_thread_target(spark)  # its pool, and what cancels its jobs
        submitted = beside.submit(inherited(_judge_others), spark, engine, policy, at, since)
        estate = judge_estate(judging, memory)
        phases.end("datasets")
        others = submitted.result()
    found = EvaluationRows(
        tallies=[*estate.tallies, *others.tallies],
        states=_together(estate.judged.states, *others.states),
        held=_held(engine, estate),
        reads=others.reads,
        lags=others.lags,
        datasets=_datasets(estate.tallies),
        policy_hash=policy.hash,
        amended=others.amended,
        seconds=time.monotonic() - phases.started,
        backlog_since=backlog_since,
        judgements=estate.judgements,
        aged=estate.aged,
    )
    phases.end("others")
    changes = publish(engine, at, found)
    if memory is not None:
        memory.estate, memory.changed = estate.estate, set()
        note_missed(engine, estate, changes)
    phases.end("storage")
    return _result(at, found, phases)


def _judge_others(
    spark: SparkSession,
    engine: Engine,
    policy: Policy,
    at: EvaluationRange,
    since: datetime | None,
) -> _OtherResults:
    """Judge all but M1 and M2: Spark's plans of one are made while it works on the other."""
    reads, lags = count_events(spark, engine, at, since)
    instants = local_rows(spark, [(at.as_of,)], INSTANTS)
    described = nodes_found(spark, engine, policy, instants)
    defects = defects_found(spark, engine, policy, at, instants)
    unsourced = load_unsourced(spark, engine, at, instants)
    explosion.renew_explosions(spark, engine, at.as_of)
    return _OtherResults(
        tallies=described.tallies,
        states=(*described.states, *defects, *unsourced),
        reads=reads,
        lags=lags,
        amended=amend(spark, engine, at, policy),
    )


def _renew_policies(engine: Engine, policy: Policy, memory: EvaluationMemory | None) -> None:
    if memory is None:
        dataset_policies.renew_policies(engine, policy)
        return
    fresh = take_changes(engine)
    memory.changed |= fresh
    try:
        dataset_policies.renew_policies(engine, policy, memory.policies, fresh)
    except BaseException:
        memory.policies = PolicyMemory()
        raise


def _held(engine: Engine, estate: EstateOutcome) -> pa.Table:
    """Return the states before of the datasets that were judged, and of the other SLIs."""
    others = held_states(engine, OF_QUERIES)
    return pa.concat_tables([others, held_states(engine, OF_FACTS, estate.keys)])


def _together(states: pa.Table, *others: pa.Table) -> pa.Table:
    # Arrow has another type for columns that are never null: frames of one schema may differ in it.
    plain = states.drop_columns(["next_change_at", "bad_since"])
    return pa.concat_tables([plain, *(other.cast(plain.schema) for other in others)])


def _datasets(tallies: list[FrameRow]) -> int:
    """Return all datasets: each has a state of freshness, at least `learning`."""
    fresh = (row for row in tallies if row["sli"] == FRESHNESS.id)
    return sum(row["total"] + row["unknown"] + row["learning"] for row in fresh)


def _result(at: EvaluationRange, found: EvaluationRows, phases: _Phases) -> EvaluationResult:
    return EvaluationResult(
        as_of=at.as_of,
        datasets=found.datasets,
        states=_count_states(found),
        reads=len(found.reads),
        events=sum(row["total"] + row["history"] + row["skewed"] for row in found.lags),
        seconds=sum(phases.seconds.values()),
        phases=phases.seconds,
    )


def _count_states(found: EvaluationRows) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for row in found.tallies:
        if row["sli"] in OF_FACTS:
            bad = row["total"] - row["good"]
            shown = {
                "good": row["good"],
                "bad": bad,
                **{n: row[n] for n in ("unknown", "learning")},
            }
            counts.update({f"{row['sli']} {state}": count for state, count in shown.items()})
    for sli, state in zip(
        *(found.states[name].to_pylist() for name in ("sli", "state")), strict=True
    ):
        if sli in OF_QUERIES:
            counts[f"{sli} {state}"] += 1
    return {name: count for name, count in counts.items() if count}
