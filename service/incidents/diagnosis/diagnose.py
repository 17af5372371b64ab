"""Compares, for each incident of a job, its last good run with the first that failed.

While an incident is held back for its 30 seconds there is time for it: the first message can say
what differs.
"""

import msgspec
from sqlalchemy import Engine, select, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.reader import CatalogReader, open_reader
from lineage.errors import RequestError
from service.incidents.diagnosis.lost_pods import compare_pods
from service.incidents.diagnosis.ranking import Diagnosis, diagnosis_of
from service.queries.diff import diff, runs_of_job

_MOST_A_TURN = 20
_incident = tables.incident


class Diagnostician:
    """Called once a second; works on incidents that nobody has compared yet."""

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


def _compared(reader: CatalogReader, name: str, namespace: str) -> Diagnosis:
    try:
        good, failed = runs_of_job(reader, name, namespace)
        lost = compare_pods(reader, good, failed)
        return diagnosis_of(diff(reader, good, failed), beside=lost)
    except RequestError:
        # No failure after a success in what is kept: of a job that is silent there is none.
        return Diagnosis()
