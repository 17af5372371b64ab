"""Spark's settings for the pipeline, and which of them spark-submit may decide.

Started by itself, the pipeline starts the JVM and sets everything. Under `spark-submit` the JVM
runs already, with the master, memory and options that the operator gave: those stay.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec
from pyspark import SparkConf, SparkContext

SHUFFLE_PARTITIONS: Final = "spark.sql.shuffle.partitions"
MASTER: Final = "spark.master"
_DRIVER_MEMORY: Final = "spark.driver.memory"
_DRIVER_OPTIONS: Final = "spark.driver.extraJavaOptions"
# PySpark's own sign that a JVM waits for this process; spark-submit sets it.
_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
_LOCAL: Final = re.compile(r"local(\[.+\])?")
_POOLS: Final = Path(__file__).with_name("fair_pools.xml")

JVM: Final = (
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
# What the pipeline's results rest on, whatever spark-submit says.
_REQUIRED: Final = {
    # Hadoop sets modes itself, whatever the process's umask says.
    "spark.hadoop.fs.permissions.umask-mode": "077",
    "spark.sql.session.timeZone": "UTC",
    "spark.scheduler.mode": "FAIR",
    "spark.scheduler.allocation.file": _POOLS.as_uri(),
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # A writing query of ours that read our own lineage would feed itself.
    "spark.extraListeners": "",
}
_DEFAULTS: Final = {
    "spark.app.name": "lineward",
    # Executors start behind the driver, so that it may set their options also under spark-submit.
    "spark.executor.extraJavaOptions": " ".join(JVM),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # A batch folds to a few thousand rows: AQE's extra job a shuffle costs more than it spreads.
    "spark.sql.adaptive.enabled": "false",
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "slis.spark.python_daemon",
    # A worker gives up after 15 s by default: on a machine out of breath that ends the stream.
    "spark.python.authenticate.socketTimeout": "120s",
    # The listener bus keeps finished jobs for a UI that is off.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.sql.ui.retainedExecutions": "5",
    # A batch holds few days: without this, its rows are sorted to write one day after the other.
    "spark.sql.maxConcurrentOutputFileWriters": "16",
    # An evaluation has more generated classes than the 100 that are kept by default: each would
    # compile all of them again, and run code that the JIT has not seen before.
    "spark.sql.codegen.cache.maxEntries": "2000",
    # What is broadcast is small, but its time is that of all it is worked out from: on a machine
    # that is busy with other work, learning takes more than the five minutes allowed by default.
    "spark.sql.broadcastTimeout": "3600",
    # What an evaluation caches it reads a few times within seconds: packing costs more.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # For the line of Python in an error's text, each expression costs half a dozen calls of the JVM
    # and a look through all of sys.path for IPython.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # Rows kept in a plan are hashed and compared with each cached plan whenever one is built.
    "spark.sql.execution.arrow.localRelationThreshold": "64k",
}
# Executors on other machines could not reach a driver on loopback.
_LOOPBACK: Final = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


class SessionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options that a caller chooses; spark-submit's own choice comes first.

    Attributes:
        master: where Spark runs; `local[2]` embedded.
        driver_memory: of the JVM, as Spark writes sizes.
        warehouse: folder for what Spark might put into its working folder otherwise.
        scratch: folder for temporary files of Spark and Java; None: that of the system.
    """

    master: str = "local[2]"
    driver_memory: str = "1536m"
    warehouse: Path | None = None
    scratch: Path | None = None


def is_submitted() -> bool:
    """Return whether spark-submit started this process, and its JVM is the parent."""
    return _SUBMITTED in os.environ


def submitted_settings() -> Mapping[str, str] | None:
    """Return the settings that spark-submit gave; None where it did not start this process."""
    if not is_submitted():
        return None
    # Before PySpark has connected to the JVM that waits, its SparkConf is empty.
    SparkContext._ensure_initialized()  # noqa: SLF001 - PySpark has no other name for it
    return dict(SparkConf().getAll())


def choose_settings(options: SessionOptions, submitted: Mapping[str, str] | None) -> dict[str, str]:
    """Return the settings that the pipeline sets; what spark-submit gave and may decide is absent.

    Args:
        options: of the caller.
        submitted: as `submitted_settings` returns them.
    """
    given = submitted or {}
    master = given.get(MASTER, options.master)
    defaults = _DEFAULTS | _places(options, master)
    if submitted is None:
        defaults |= _of_new_jvm(options)
    return {name: value for name, value in defaults.items() if name not in given} | _REQUIRED


def is_local(master: str) -> bool:
    """Return whether Spark runs in the driver's own JVM."""
    return _LOCAL.fullmatch(master) is not None


def _of_new_jvm(options: SessionOptions) -> dict[str, str]:
    """Return what only a JVM that starts now can take."""
    java = list(JVM)
    if options.scratch is not None:
        java.append(f'"-Djava.io.tmpdir={options.scratch}"')
    return {
        MASTER: options.master,
        _DRIVER_MEMORY: options.driver_memory,
        _DRIVER_OPTIONS: " ".join(java),
    }


def _places(options: SessionOptions, master: str) -> dict[str, str]:
    """Return addresses and folders of the driver's machine."""
    places = dict(_LOOPBACK) if is_local(master) else {}
    if options.warehouse is not None:
        places["spark.sql.warehouse.dir"] = str(options.warehouse)
    # Executors on other machines have no such folder.
    if options.scratch is not None and is_local(master):
        places["spark.local.dir"] = str(options.scratch)
    return places
