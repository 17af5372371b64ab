from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from slis.spark.python_daemon import MODULES

ROOT = Path(__file__).resolve().parents[3]


def test_a_worker_has_its_imports_when_it_starts(spark):
    """Spark's own daemon freezes nothing and has imported no module of Lineward."""

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import gc  # noqa: PLC0415 - in the worker
        import sys  # noqa: PLC0415 - as above

        for _ in batches:
            values = [gc.get_freeze_count() > 10_000, "slis.stream.on_executors" in sys.modules]
            yield pa.record_batch([pa.array(values)], names=["seen"])

    assert {row.seen for row in spark.range(1).mapInArrow(look, "seen boolean").collect()} == {True}


def test_every_module_with_functions_for_workers_is_imported_by_the_daemon():
    """Find the modules by PySpark's names for such functions."""
    calls = (".mapInArrow(", ".mapInPandas(", ".applyInArrow(", ".applyInPandas(")
    found = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "slis").rglob("*.py")
        if any(call in path.read_text() for call in calls)
    }

    assert found == {name for name in MODULES if name.startswith("slis.")}
