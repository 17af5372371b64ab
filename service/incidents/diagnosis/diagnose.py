"""Comparison of the last good run of an incident's job with the first that failed.

While an incident is held back for its 30 seconds there is time for it: the first message can say
what differs.
"""

from collections.abc import Iterator
from typing import Final

import msgspec
from sqlalchemy import Engine, select, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import CatalogReader, open_reader
from lineage.catalog.rows import Row
from lineage.errors import RequestError
from service.incidents.diagnosis.ranking import Diagnosis, Difference, diagnosis_of
from service.queries.diff import compare_runs, last_good_and_failed

_MOST_PODS: Final = 5
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

_MOST_A_TURN = 20
_incident = tables.incident
_WAITING = (
    select(_incident.c.incident_id, _incident.c.root_name, _incident.c.root_namespace)
    .where(
        _incident.c.is_remembered,
        _incident.c.diagnosis.is_(None),
        _incident.c.root_entity == "job",
        _incident.c.state.in_(("pending", "open", "acknowledged")),
    )
    .order_by(_incident.c.seen_at)
    .limit(_MOST_A_TURN)
)


class Diagnostician:
    """Periodic task, once a second: compares the runs of incidents without a comparison."""

    def __init__(self, catalog_url: str) -> None:
        self._url = catalog_url

    def __call__(self, engine: Engine) -> None:
        """Compare, and write down what was found; nothing to compare is an answer too."""
        with engine.connect() as connection:
            waiting = connection.execute(_WAITING).all()
        if not waiting:
            return
        with open_reader(self._url) as reader:
            found = {
                row.incident_id: _compared(reader, row.root_name, row.root_namespace)
                for row in waiting
            }
        with write_transaction(engine) as connection:
            for number, diagnosis in found.items():
                encoded = msgspec.json.encode(diagnosis).decode()
                mine = _incident.c.incident_id == number
                connection.execute(update(_incident).where(mine).values(diagnosis=encoded))


def _compared(reader: CatalogReader, name: str, namespace: str) -> Diagnosis:
    try:
        good, failed = last_good_and_failed(reader, name, namespace)
        lost = _compare_pods(reader, good, failed)
        return diagnosis_of(compare_runs(reader, good, failed), beside=lost)
    except RequestError:
        # No failure after a success in what is kept: of a job that is silent there is none.
        return Diagnosis()


def _compare_pods(reader: CatalogReader, good: str, failed: str) -> Iterator[Difference]:
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
    rows = reader.rows(_LOST, {"run": run, "most": _MOST_PODS})
    return "; ".join(map(_describe_lost, rows)) or None


def _describe_lost(row: Row) -> str:
    lost = row.role if row.pods == 1 else f"{row.pods} {row.role}s"
    message = f": {row.detail}" if row.detail else ""
    return f"{lost} {row.cause} ({row.pod}{message})"
