"""Start of observation: of reads before it, nothing is known."""

from datetime import datetime

from sqlalchemy import Connection, Engine, text

from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.meta_keys import HISTORY_FROM, INSTALLED
from lineage.catalog.upsert import least
from lineage.process.clock import from_micros, to_micros
from slis.evaluation.input import EvaluationRange
from slis.meta import put_meta, read_meta, read_meta_number

_FIRST_BATCH = "SELECT min(landed_at) FROM batch"
_HISTORY_LANDED = """
    SELECT min(event_time) FROM event WHERE last_seq > :after AND last_seq <= :last AND is_history
"""


def read_observation_start(connection: Connection) -> datetime | None:
    """Return the install time or the first event of the loaded history, if earlier; else None."""
    noted_at = (read_meta_number(connection, name) for name in (INSTALLED, HISTORY_FROM))
    known = [at for at in noted_at if at is not None]
    return from_micros(min(known)) if known else None


def renew_start(engine: Engine, at: EvaluationRange) -> datetime | None:
    """Take in the first batch and the history that landed since the last evaluation."""
    with engine.connect() as connection:
        span = {"after": at.after_seq, "last": at.last_seq}
        history = connection.scalar(text(_HISTORY_LANDED), span)
        known = read_meta(connection, INSTALLED)
    if known is None or history is not None:
        with exclusive_transaction(engine) as connection:
            installed = connection.scalar(text(_FIRST_BATCH)) or to_micros(at.as_of)
            _keep(connection, INSTALLED, installed)
            if history is not None:
                _keep(connection, HISTORY_FROM, history)
    with engine.connect() as connection:
        return read_observation_start(connection)


def _keep(connection: Connection, name: str, micros: int) -> None:
    """Keep the earliest instant of that name. Texts of 16 digits sort like their numbers."""
    put_meta(connection, {name: f"{micros:016d}"}, least)
