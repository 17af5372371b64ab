"""Evidence and events of the same executions, brought together.

An execution is the run whose START has its start to the millisecond; where that START was lost, the
run that ended with it, or ran its Spark job. What then is in the evidence alone goes where the
events' facts are, marked as not reported: runs without any event, outputs and inputs that no event
names, failures that the events call a success, ends that no event reported.
"""

from sqlalchemy import Connection, text

from lineage.process.clock import DAY_MICROS
from slis.evidence.match import match_executions
from slis.evidence.missing import add_what_is_missing
from slis.evidence.statements import Given
from slis.stream.derived.derive_facts import derive_facts
from slis.stream.staging import staging

_MATCH_DAYS_MICROS = 8 * DAY_MICROS  # later events match no log


def time_parameters(*, now: int, settle_micros: int, horizon: int) -> Given:
    """Return the parameters of the statements, in microseconds.

    Args:
        now: `landed_at` of what is found.
        settle_micros: how long after an execution its events may still come.
        horizon: what ended before, before lineage was watched, teaches and never counts.
    """
    return {
        "since": now - _MATCH_DAYS_MICROS,
        "due": now - settle_micros,
        "landed_at": now,
        "horizon": horizon,
    }


def join_evidence(connection: Connection, given: Given) -> int:
    """Bring together what there is, and derive what follows for writes, reads and edges.

    Args:
        connection: inside a transaction of its own.
        given: as `time_parameters` returns it.

    Returns:
        How many runs changed.
    """
    staging.create(connection)
    now = int(given["landed_at"])
    stale = match_executions(connection, given)
    add_what_is_missing(connection, given)
    changed = connection.scalar(text("SELECT count(DISTINCT run_key) FROM s_run")) or 0
    if changed:
        derive_facts(connection, now, stale)
    return changed
