"""Archive of Spark's classes that each JVM of the tests maps: it halves the CPU of a start.

Java writes the archive when this module ends. A JVM with other jars, or of another Java, ignores
it.
"""

import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from tests.suite.examples import is_long

FOLDER: Final = Path(__file__).resolve().parents[2] / "build" / "classes"
# A plan that runs once over three rows is not worth compiling.
INTERPRETED: Final = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
_NO_WARNINGS: Final = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"


def java_options() -> str:
    """Return the options that map the archive, if `scripts/setup.sh` has made it."""
    archive = next(FOLDER.glob("*.jsa"), None)
    return f"-XX:SharedArchiveFile={archive} {_NO_WARNINGS}" if archive else ""


def interpreter_variables() -> dict[str, str]:
    """Return variables for a Lineward that interprets its plans.

    They save a sixth of a pipeline's CPU. The long form compiles plans, as in production.
    """
    if is_long():
        return {}
    given = " ".join(f"-D{name}={value}" for name, value in INTERPRETED.items())
    return {"JDK_JAVA_OPTIONS": f"{os.environ.get('JDK_JAVA_OPTIONS', '')} {given}".strip()}


def _load_classes(folder: Path) -> None:
    """Land a batch and evaluate it, as most tests of Spark do."""
    from pyspark import SparkContext  # noqa: PLC0415 - a test imports this module for its options

    from lineage.catalog.engine import catalog_url, migrate, open_catalog  # noqa: PLC0415
    from lineage.policy import Policy  # noqa: PLC0415
    from slis.evaluation.evaluation import evaluate  # noqa: PLC0415
    from slis.made_up_events import fill_spool, make_events  # noqa: PLC0415
    from slis.spark.session import spark_session  # noqa: PLC0415
    from tests.slis.stream.spools import work_off  # noqa: PLC0415

    engine = open_catalog(catalog_url(folder))
    migrate(engine)
    start = datetime(2026, 11, 20, tzinfo=UTC)
    apart = timedelta(seconds=1)
    fill_spool(folder / "spool.db", make_events(50, seed=5, start=start, apart=apart))
    spark = spark_session(warehouse=folder / "warehouse")
    for name, value in INTERPRETED.items():
        spark.conf.set(name, value)
    work_off(engine, folder, start + timedelta(hours=1))
    evaluate(spark, engine, Policy(), start + timedelta(hours=2))
    jvm = SparkContext._gateway.proc  # noqa: SLF001 - it writes the archive as it ends
    spark.stop()
    jvm.stdin.close()
    jvm.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        _load_classes(Path(temporary))
    sys.stdout.flush()
