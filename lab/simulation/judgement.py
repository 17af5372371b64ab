"""Judgement of a simulation's gaps by three rules: ours, a z-score, a multiple of the median.

Each gives, for each gap, the instant from which it calls the next write late.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lab.simulation.gaps import FIRST_WATCHED, Simulated
from lab.simulation.scheduled import CHANGE_DAYS
from lab.simulation.wall_clock import DAYS, HOLIDAYS, NEVER_DUE, ZONE, midnight_after
from lineage.process.clock import to_micros
from lineage.sli_limits import STREAM_LIMIT_SECONDS
from slis.cadence import cadence, cadence_limits
from slis.cadence.working_time import WorkingTime
from slis.cadence.working_week import Micros
from slis.evaluation.sli_schemas import GAPS, WRITES
from slis.spark.planning import local_rows

_ROWS = 200_000

_STEP_DAYS = 10.0
_CYCLES = 28
_WEEKEND = frozenset({5, 6})
_CALENDAR = "germany"
TIMES = {
    None: WorkingTime(ZONE),
    _CALENDAR: WorkingTime(ZONE, _WEEKEND, HOLIDAYS),
}


def load_writes(spark: SparkSession, folder: Path, simulated: Simulated) -> DataFrame:
    """Return `sli_schemas.WRITES` of a class, kept below `folder`."""
    path = folder / f"{simulated.name}.parquet"
    instants = pa.array(simulated.written_at, pa.timestamp("us", tz="UTC"))
    table = pa.table({"dataset_key": simulated.dataset, "written_at": instants})
    pq.write_table(table, path, row_group_size=_ROWS)
    known = {
        "dataset_key": F.col("dataset_key"),
        "written_at": F.col("written_at"),
        "landed_at": F.col("written_at"),
        "is_streaming": F.lit(simulated.is_streaming),
    }

    def column(name: str) -> Column:
        return known.get(name, F.lit(None))

    schema: StructType = StructType.fromDDL(WRITES)  # type: ignore[assignment]
    return spark.read.parquet(str(path)).select(
        *(column(field.name).cast(field.dataType).alias(field.name) for field in schema.fields)
    )


def plan_writes(frame: DataFrame, plan: str | None) -> DataFrame:
    """Return the writes of datasets with that working time."""
    return frame.withColumn("plan", F.lit(plan).cast("string"))


def by_limits(
    spark: SparkSession, folder: Path, simulated: Simulated, days: Sequence[float]
) -> Micros:
    """Judge by the product's learned limits, and a stream by the product's own rule for streams.

    Limits are learned by one job, as of the beginnings of days: in production they are learned
    after each write. Each gap is judged by the limit of the last instant before it began, or of one
    while it was open: that knows the writes up to the gap's beginning, and neither the gap nor what
    came after it.
    """
    if simulated.is_streaming:
        return simulated.gaps.started_at + round(STREAM_LIMIT_SECONDS * 1e6)
    instants = [midnight_after(day) for day in days]
    rows = limit_gaps(spark, folder, simulated, instants)
    due = np.full(simulated.gaps.dataset.size, NEVER_DUE)
    micros = np.array([to_micros(instant) for instant in instants])
    for row, places in by_profile(simulated, rows, micros):
        time = TIMES[row.plan if isinstance(row.plan, str) else None]
        due[places] = cadence_limits.deadlines(row, simulated.gaps.started_at[places], time)
    return due


def learning_days(cycle_days: float) -> list[float]:
    """Return days ten apart, and for a while after each change of cadence a cycle apart."""
    cycles = [day + cycle * cycle_days for day in CHANGE_DAYS for cycle in range(1, _CYCLES)]
    daily = [day + later for day in CHANGE_DAYS for later in range(1, _CYCLES, 3)]
    return sorted({*np.arange(FIRST_WATCHED, DAYS, _STEP_DAYS).tolist(), *cycles, *daily})


def limit_gaps(
    spark: SparkSession, folder: Path, simulated: Simulated, instants: list[datetime]
) -> pd.DataFrame:
    """Return the profiles that have learned enough for a limit, with their limits."""
    writes = load_writes(spark, folder, simulated)
    plan = _CALENDAR if simulated.has_calendar else None
    ours = local_rows(spark, [], GAPS)
    found = cadence.profiles(
        plan_writes(writes, plan), ours, instants=instants, times=TIMES
    ).persist()
    try:
        tails = cadence_limits.pools(found)
        limits = cadence_limits.with_tails(found, tails).where("gaps >= 8")
        return limits.toPandas()
    finally:
        found.unpersist()


def by_profile(
    simulated: Simulated, rows: pd.DataFrame, instants: Micros
) -> Iterator[tuple[Any, Micros]]:
    """Join each row of limits with the gaps that it judges."""
    gaps = simulated.gaps
    begun = np.searchsorted(instants, gaps.started_at, side="right")
    # An instant inside the gap, before a day is over, knows all that was known as it began.
    following = instants[np.minimum(begun, instants.size - 1)]
    day = timedelta(days=1) // timedelta(microseconds=1)
    is_open = (following < gaps.ended_at) & (following < gaps.started_at + day)
    place = np.where(is_open & (begun < instants.size), begun, begun - 1)
    key = gaps.dataset * instants.size + place
    key[place < 0] = -1
    order = np.argsort(key, kind="stable")
    held = key[order]
    wanted = rows.dataset_key.to_numpy() * instants.size + np.searchsorted(
        instants, rows.as_of.to_numpy()
    )
    starts, ends = np.searchsorted(held, wanted), np.searchsorted(held, wanted, side="right")
    for row, start, end in zip(rows.itertuples(), starts, ends, strict=True):
        if end > start:
            yield row, order[start:end]
