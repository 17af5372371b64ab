"""Benchmark of an evaluation: its time and memory, beside its budget."""

import resource
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from pyspark.sql import SparkSession
from sqlalchemy import Engine

from lab.bench import estate_rows
from lab.bench.footprint import CpuMeter
from lineage.catalog.engine import catalog_url, migrate, open_catalog
from lineage.policy import Policy
from lineage.policy.model import DatasetRule
from slis.evaluation.edge_evaluation import evaluate_edges
from slis.evaluation.evaluation import EvaluationResult, evaluate
from slis.spark import garbage_collection
from slis.spark.session import spark_session

BUDGET_SECONDS = 8.0
BUDGET_BYTES = 2 * 1024**3
# A pipeline runs for weeks: what it does in its first ten minutes is reported, and has no budget.
_YOUNG_ROUNDS, _WARM_ROUNDS = 10, 5
_EDGE_ROUNDS = 3
_EVENTS_A_ROUND = 15_000
_READS_A_ROUND = 5_000
_POLICY = Policy(
    datasets=(
        DatasetRule("s3://bench/domain_1/*", tier="critical", owner="sales"),
        DatasetRule("s3://bench/domain_2/*", tier="important", limit="26h"),
    )
)


class EvaluationFigures(msgspec.Struct, frozen=True):
    """Measured figures; seconds of each round, the first of which starts cold.

    `cpu_seconds` are Python's and the JVM's together: on a busy machine they are more reliable.
    `young_seconds` are the median of the ten after it, whose code is still being compiled;
    `warm_seconds` that of the five after those. `edge_seconds` are of the turns that judge all
    edges, once a minute beside them. `peak_bytes` is the largest resident size of
    both together, from the start of the process on.
    """

    datasets: int
    edges: int
    seconds: list[float]
    cpu_seconds: list[float]
    young_seconds: float
    warm_seconds: float
    budget_warm_seconds: float
    edge_seconds: list[float]
    peak_bytes: int
    budgetpeak_bytes: int
    states: dict[str, int]


def run(datasets: int = 100_000, edges: int = 300_000) -> EvaluationFigures:
    """Fill a catalog of its own, evaluate it 16 times, 15 s of traffic in between."""
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(warehouse=Path(folder) / "warehouse")
        try:
            rounds, edge_seconds = _rounds(spark, Path(folder), datasets, edges)
            peak = peak_bytes(spark)
        finally:
            spark.stop()
    seconds = [took for took, _, _ in rounds]
    return EvaluationFigures(
        datasets=datasets,
        edges=edges,
        seconds=seconds,
        cpu_seconds=[cpu for _, cpu, _ in rounds],
        young_seconds=statistics.median(seconds[1:-_WARM_ROUNDS]),
        warm_seconds=statistics.median(seconds[-_WARM_ROUNDS:]),
        budget_warm_seconds=BUDGET_SECONDS,
        edge_seconds=edge_seconds,
        peak_bytes=peak,
        budgetpeak_bytes=BUDGET_BYTES,
        states=rounds[-1][2].states,
    )


def _rounds(
    spark: SparkSession, folder: Path, datasets: int, edges: int
) -> tuple[list[tuple[float, float, EvaluationResult]], list[float]]:
    engine = open_catalog(catalog_url(folder))
    migrate(engine)
    now = datetime.now(UTC)
    estate_rows.fill(engine, datasets=datasets, edges=edges, now=now)
    rounds = []
    garbage_collection.freeze_objects()
    for number in range(1 + _YOUNG_ROUNDS + _WARM_ROUNDS):
        as_of = now + timedelta(seconds=15 * number)
        estate_rows.land(
            engine,
            seq=number + 1,
            keys=min(datasets, _READS_A_ROUND),
            events=_EVENTS_A_ROUND,
            now=as_of,
        )
        started, used = time.monotonic(), CpuMeter()
        result = evaluate(spark, engine, _POLICY, as_of)
        garbage_collection.free()  # as the pipeline does
        rounds.append((time.monotonic() - started, used.seconds(), result))
    edge_seconds = [_edge_turn(spark, engine, as_of) for _ in range(_EDGE_ROUNDS)]
    engine.dispose()
    return rounds, edge_seconds


def _edge_turn(spark: SparkSession, engine: Engine, as_of: datetime) -> float:
    started = time.monotonic()
    evaluate_edges(spark, engine, _POLICY, as_of)
    garbage_collection.free()
    return time.monotonic() - started


def peak_bytes(spark: SparkSession) -> int:
    """Highest resident sizes of this process and its JVM."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    jvm = spark.sparkContext._jvm  # noqa: SLF001 - Spark's one way to the JVM
    pid = int(jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return own + int(line.split()[1]) * 1024
    message = "the JVM's status names no VmHWM"
    raise RuntimeError(message)
