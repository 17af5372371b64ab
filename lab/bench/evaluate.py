"""Benchmark of an evaluation: its time and memory, beside its budget."""

import resource
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from pyspark.sql import SparkSession

from lab.bench import estate_rows
from lab.bench.footprint import CpuMeter
from lineage.catalog.engine import catalog_url, migrate, open_catalog
from lineage.policy import Policy
from lineage.policy.model import DatasetRule
from slis.evaluation.edge_evaluation import evaluate_edges
from slis.evaluation.evaluation import EvaluationResult, evaluate
from slis.evaluation.evaluation_memory import EvaluationMemory
from slis.spark import garbage_collection
from slis.spark.session import spark_session

BUDGET_SECONDS = 1.0
BUDGET_BYTES = 2 * 1024**3
# A pipeline runs for weeks: what it does in its first ten minutes is reported, and has no budget.
_YOUNG_ROUNDS, _WARM_ROUNDS = 10, 5
_EDGE_ROUNDS = 3
_EVENTS_A_ROUND = 15_000
_READS_A_ROUND = 5_000
_WRITTEN_A_ROUND, _EDGES_A_ROUND, _NEW_DATASETS = 1_000, 100, 10
_POLICY = Policy(
    datasets=(
        DatasetRule("s3://bench/domain_1/*", tier="critical", owner="sales"),
        DatasetRule("s3://bench/domain_2/*", tier="important", limit="26h"),
    )
)

_OTHER_POLICY = Policy(
    datasets=(*_POLICY.datasets, DatasetRule("s3://bench/domain_3/*", tier="important"))
)


class EvaluationFigures(msgspec.Struct, frozen=True):
    """Measured figures; seconds of each round, the first of which starts cold.

    `cpu_seconds` are Python's and the JVM's together: on a busy machine they are more reliable.
    `young_seconds` are the median of the ten after it, whose code is still being compiled;
    `warm_seconds` that of the five after those, and `phases` the seconds of the last one's parts.
    Then come a round with new datasets, one with another policy, and one that judges everything, as
    the pipeline does once an hour. `edge_seconds` are of the turns that judge all
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
    phases: dict[str, float]
    new_datasets_seconds: float
    new_policy_seconds: float
    whole_seconds: float
    edge_seconds: list[float]
    peak_bytes: int
    budget_peak_bytes: int
    states: dict[str, int]


def run(datasets: int = 100_000, edges: int = 300_000) -> EvaluationFigures:
    """Fill a catalog of its own, evaluate it 19 times, 15 s of traffic in between."""
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(warehouse=Path(folder) / "warehouse")
        try:
            bench = _Bench(spark, Path(folder), datasets, edges)
            rounds = [bench.round() for _ in range(1 + _YOUNG_ROUNDS + _WARM_ROUNDS)]
            others = [bench.round(new=_NEW_DATASETS), bench.round(policy=_OTHER_POLICY)]
            others.append(bench.round(policy=_OTHER_POLICY, is_whole=True))
            edge_seconds = [bench.edge_turn() for _ in range(_EDGE_ROUNDS)]
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
        phases=rounds[-1][2].phases,
        new_datasets_seconds=others[0][0],
        new_policy_seconds=others[1][0],
        whole_seconds=others[2][0],
        edge_seconds=edge_seconds,
        peak_bytes=peak,
        budget_peak_bytes=BUDGET_BYTES,
        states=rounds[-1][2].states,
    )


class _Bench:
    """Catalog with an estate, and a pipeline's evaluations of it."""

    def __init__(self, spark: SparkSession, folder: Path, datasets: int, edges: int) -> None:
        self._spark = spark
        self._engine = open_catalog(catalog_url(folder))
        migrate(self._engine)
        self._now = datetime.now(UTC)
        self._datasets, self._seq = datasets, 0
        estate_rows.fill(self._engine, datasets=datasets, edges=edges, now=self._now)
        garbage_collection.freeze_objects()
        self._memory = EvaluationMemory()

    def round(
        self, *, new: int = 0, policy: Policy = _POLICY, is_whole: bool = False
    ) -> tuple[float, float, EvaluationResult]:
        """Land 15 s of traffic, and evaluate; return seconds, CPU seconds and the result."""
        self._land(new)
        memory = None if is_whole else self._memory
        started, used = time.monotonic(), CpuMeter()
        result = evaluate(self._spark, self._engine, policy, self._now, memory=memory)
        garbage_collection.free()  # as the pipeline does
        return time.monotonic() - started, used.seconds(), result

    def _land(self, new: int) -> None:
        self._seq += 1
        self._now += timedelta(seconds=15)
        estate_rows.land(
            self._engine,
            seq=self._seq,
            keys=min(self._datasets, _READS_A_ROUND),
            events=_EVENTS_A_ROUND,
            now=self._now,
        )
        estate_rows.change(
            self._engine,
            seq=self._seq,
            datasets=self._datasets,
            written=_WRITTEN_A_ROUND,
            edges=_EDGES_A_ROUND,
            now=self._now,
        )
        if new:
            estate_rows.add(self._engine, first=self._datasets, datasets=new, now=self._now)

    def edge_turn(self) -> float:
        """Judge all edges; return the seconds."""
        started = time.monotonic()
        evaluate_edges(self._spark, self._engine, _POLICY, self._now)
        garbage_collection.free()
        return time.monotonic() - started


def peak_bytes(spark: SparkSession) -> int:
    """Return the highest resident sizes of this process and its JVM."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    jvm = spark.sparkContext._jvm  # noqa: SLF001 - Spark's one way to the JVM
    pid = int(jvm.java.lang.ProcessHandle.current().pid())  # type: ignore[union-attr]
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return own + int(line.split()[1]) * 1024
    message = "the JVM's status names no VmHWM"
    raise RuntimeError(message)
