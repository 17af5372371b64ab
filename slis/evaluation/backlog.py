"""Waiting work: events that have not landed, and the next deadline."""

from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, Engine, text

from lineage.catalog.meta_keys import BEHIND_SINCE, EVENTS_WAIT_SINCE
from lineage.process.clock import from_micros, to_micros
from slis.meta import put_meta, read_meta_number
from slis.stream.log.spool_reader import open_spool_to_read
from slis.stream.merge.merge import cursor

# A batch may take as long on a busy machine. Older events wait because of an outage of ours.
_BEHIND: Final = timedelta(seconds=60)
_NEXT_CHANGE = "SELECT min(next_change_at) FROM dataset_judgement WHERE next_change_at > :after"


def is_ready(spool: Path) -> bool:
    """Return whether the collector has made its spool."""
    if not spool.exists():
        return False
    with closing(open_spool_to_read(spool)) as connection:
        made = "SELECT count(*) FROM sqlite_master WHERE name = 'event'"
        return bool(connection.execute(made).fetchone()[0])


def backlog_since(spool: Path, engine: Engine) -> datetime | None:
    """Return when the oldest event that has not landed was received; None where none waits."""
    if not spool.exists():
        return None
    with engine.connect() as connection:
        at = cursor(connection)
    with closing(open_spool_to_read(spool)) as connected:
        row = connected.execute(
            "SELECT received_at FROM event WHERE seq > ? ORDER BY seq LIMIT 1", (at,)
        ).fetchone()
    return None if row is None else from_micros(row[0])


def note_backlog(connection: Connection, as_of: datetime, waiting: datetime | None) -> None:
    """Note how far an evaluation is behind the events that were received.

    Args:
        connection: inside the transaction that publishes the evaluation.
        as_of: of the evaluation.
        waiting: when the oldest event that it lacks was received; None: it lacks none.
    """
    at = to_micros(as_of)
    # A clock that was ahead noted a time that has not come.
    first = min(read_meta_number(connection, BEHIND_SINCE) or at, at)
    is_behind = waiting is not None and as_of - waiting > _BEHIND
    since = 0 if waiting is None else to_micros(waiting)
    put_meta(connection, {EVENTS_WAIT_SINCE: since, BEHIND_SINCE: first if is_behind else 0})


def next_deadline(engine: Engine, now: datetime) -> datetime | None:
    """Return when the next dataset may change without a fact, by the evaluation as of `now`."""
    with engine.connect() as connection:
        at = connection.scalar(text(_NEXT_CHANGE), {"after": to_micros(now)})
    return None if at is None else from_micros(at)
