"""Pods of Spark that a run lost, by Kubernetes: a cause that no event names."""

from collections.abc import Iterator
from typing import Final

from lineage.catalog.reader import CatalogReader
from lineage.catalog.rows import Row
from service.incidents.diagnosis.ranking import Difference

_MOST: Final = 5
_APPLICATIONS: Final = """
    SELECT DISTINCT r.application_id FROM run r
    WHERE r.root_run_id = :run AND r.application_id IS NOT NULL
"""
_LOST: Final = f"""
SELECT role, cause, COUNT(*) AS pods, MIN(pod) AS pod, MIN(detail) AS detail FROM spark_pod_failure
WHERE spark_id IN ({_APPLICATIONS}) GROUP BY role, cause ORDER BY role, 3 DESC, cause LIMIT :most
"""  # noqa: S608 - our own tables
_PROBLEM: Final = f"""
SELECT problem FROM spark_application
WHERE spark_id IN ({_APPLICATIONS}) AND problem IS NOT NULL ORDER BY submitted_at DESC LIMIT 1
"""  # noqa: S608 - our own tables


def compare_pods(reader: CatalogReader, good: str, failed: str) -> Iterator[Difference]:
    """Yield what Kubernetes has of the failed run, and not of the good one.

    Args:
        reader: of the catalog.
        good: root run that succeeded.
        failed: root run that failed.
    """
    before, after = _list_lost(reader, good), _list_lost(reader, failed)
    if after and after != before:
        yield Difference("lost pods", before, after)
    for (problem,) in reader.rows(_PROBLEM, {"run": failed}):
        yield Difference("SparkApplication", None, problem)


def _list_lost(reader: CatalogReader, run: str) -> str | None:
    rows = reader.rows(_LOST, {"run": run, "most": _MOST})
    return "; ".join(map(_word, rows)) or None


def _word(row: Row) -> str:
    lost = row.role if row.pods == 1 else f"{row.pods} {row.role}s"
    message = f": {row.detail}" if row.detail else ""
    return f"{lost} {row.cause} ({row.pod}{message})"
