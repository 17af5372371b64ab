"""Simulated writes as the catalog would hand them out: frames of `sli_schemas`."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lab.simulation.gaps import Simulated
from slis.evaluation.sli_schemas import WRITES

_ROWS = 200_000


def writes(spark: SparkSession, folder: Path, simulated: Simulated) -> DataFrame:
    """`sli_schemas.WRITES` of a class, kept below `folder`."""
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
