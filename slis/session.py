"""The one Spark session of the pipeline: two cores, one machine, long-lived."""

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from slis import jvm_names

POOL = "spark.scheduler.pool"  # name of the local property
STREAM_POOL = "stream"
EVALUATION_POOL = "evaluation"
_POOLS = Path(__file__).with_name("fair_pools.xml")

_JVM = (
    # One thread collects 1.5 GiB in milliseconds; G1's own tables and headroom take 700 MiB more.
    "-XX:+UseSerialGC",
    # Not grown while a third of it is free: 300 MiB less, for a tenth of an evaluation's CPU.
    "-XX:MinHeapFreeRatio=30",
    # Two thirds of a young pipeline's CPU were C2's: it now waits for what is 20 times as hot.
    "-XX:Tier4InvocationThreshold=100000",
    "-XX:Tier4MinInvocationThreshold=12000",
    "-XX:Tier4CompileThreshold=300000",
    "-XX:Tier4BackEdgeThreshold=800000",
)
_SETTINGS = {
    "spark.app.name": "lineward",
    # Hadoop sets modes itself, whatever the process's umask says.
    "spark.hadoop.fs.permissions.umask-mode": "077",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.scheduler.mode": "FAIR",
    "spark.scheduler.allocation.file": _POOLS.as_uri(),
    # A batch folds to a few thousand rows: more partitions, or AQE's extra job a shuffle, cost
    # more than they spread.
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.python.worker.reuse": "true",
    # A worker gives up after 15 s unless told: on a machine out of breath that ends the stream.
    "spark.python.authenticate.socketTimeout": "120s",
    # The listener bus keeps finished jobs for a UI that is off.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.sql.ui.retainedExecutions": "5",
    # A batch holds few days: without this, its rows are sorted to write one day after the other.
    "spark.sql.maxConcurrentOutputFileWriters": "16",
    # An evaluation has more generated classes than the 100 that are kept unless told: each would
    # compile all of them again, and run code that the JIT has not seen before.
    "spark.sql.codegen.cache.maxEntries": "2000",
    # What is broadcast is small, but its time is that of all it is worked out from: on a machine
    # that is busy with other work, learning takes more than the five minutes allowed unless told.
    "spark.sql.broadcastTimeout": "3600",
    # What an evaluation caches it reads a few times within seconds: packing costs more.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # For the line of Python in an error's text, each expression costs half a dozen calls of the JVM
    # and a look through all of sys.path for IPython.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # Rows kept in a plan are hashed and compared with each cached plan whenever one is built.
    "spark.sql.execution.arrow.localRelationThreshold": "64k",
    "spark.driver.extraJavaOptions": " ".join(_JVM),
    # A writing query of ours that read our own lineage would feed itself.
    "spark.extraListeners": "",
}


def open_session(
    *,
    master: str = "local[2]",
    driver_memory: str = "1536m",
    warehouse: Path | None = None,
    scratch: Path | None = None,
) -> SparkSession:
    """The session of this process, opened on first call.

    Args:
        master: where Spark runs; `local[2]` embedded.
        driver_memory: of the JVM, as Spark writes sizes; takes effect in the first call of a
        process only.
        warehouse: folder for what Spark might put into its working folder otherwise.
        scratch: folder for temporary files of Spark and Java; None: that of the system.
    """
    # Spark starts `python3` from PATH otherwise, which lacks what this interpreter has installed.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.Builder().master(master).config("spark.driver.memory", driver_memory)
    for name, value in _SETTINGS.items():
        builder = builder.config(name, value)
    if scratch is not None:
        builder = builder.config("spark.local.dir", str(scratch))
        options = f'{_SETTINGS["spark.driver.extraJavaOptions"]} "-Djava.io.tmpdir={scratch}"'
        builder = builder.config("spark.driver.extraJavaOptions", options)
    if warehouse is not None:
        builder = builder.config("spark.sql.warehouse.dir", str(warehouse))
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    jvm_names.remember(session._jvm)  # noqa: SLF001 - PySpark has no other name for it
    return session


def in_evaluation_pool(spark: SparkSession) -> None:
    """What this thread has Spark do yields to the stream, and can be given up."""
    spark.sparkContext.setLocalProperty(POOL, EVALUATION_POOL)
    spark.sparkContext.setJobGroup(EVALUATION_POOL, "evaluation")
