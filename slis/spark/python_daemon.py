"""Daemon that imports what Spark's Python workers run, and then forks them.

Spark's own daemon leaves the imports to each worker, and Spark ends workers that are idle for a
minute. After each task a worker also collects garbage among all that it has imported.
"""

import gc
from importlib import import_module
from typing import Final

from pyspark import daemon

# Modules with functions that workers run, and the main module of a worker.
MODULES: Final = (
    "pyspark.worker",
    "slis.cadence.cadence",
    "slis.cadence.cadence_limits",
    "slis.indicators.accuracy.sql_parse",
    "slis.stream.on_executors",
)


def main() -> None:
    """Fork a worker for each request of Spark, until Spark closes standard input."""
    for name in MODULES:
        import_module(name)
    gc.collect()
    gc.freeze()
    daemon.manager()


if __name__ == "__main__":
    main()
