"""Bodies that the collector rejected since the last look, by its spool.

Ids of rejected bodies are given once and without a hole, so what was pruned before it was seen is
known by number, if no longer by cause.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from lineage import origins
from lineage.process.clock import HOUR_MICROS, Clock, to_micros
from slis.stream.source import open_spool

PRUNED = "pruned"
HISTORY, LIVE = "history", "live"

_LAST = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'rejected'"
_OF_HISTORY = ", ".join(f"'{origin}'" for origin in origins.OF_HISTORY)
_SINCE = f"""
    SELECT received_at / :hour * :hour, reason,
        CASE WHEN origin IN ({_OF_HISTORY}) THEN '{HISTORY}' ELSE '{LIVE}' END, count(*)
    FROM rejected WHERE id > :after AND id <= :last GROUP BY 1, 2, 3
"""  # noqa: S608 - words of ours


class Rejections(msgspec.Struct, frozen=True):
    """Bodies rejected up to id `last`.

    Attributes:
        last: the newest id that the spool has given.
        counts: (start of the hour in µs, cause, live or history, bodies).
    """

    last: int
    counts: list[tuple[int, str, str, int]]


def rejections_since(spool: Path, after: int, clock: Clock) -> Rejections | None:
    """Return what was rejected behind id `after`; None while the spool is not ready.

    A spool that has given fewer ids than `after` is an older copy: what it rejected is counted from
    its own end on.
    """
    if not spool.exists():
        return None
    try:
        with closing(open_spool(spool)) as connection:
            connection.execute("BEGIN")  # one moment: the collector rejects and prunes meanwhile
            last = int(connection.execute(_LAST).fetchone()[0])
            given = {"after": after, "last": last, "hour": HOUR_MICROS}
            counts = connection.execute(_SINCE, given).fetchall()
    except sqlite3.OperationalError:
        # The collector is about to create its tables, or to complete those of an older release.
        return None
    unseen = last - after - sum(count for _, _, _, count in counts)
    if unseen > 0:
        hour = to_micros(clock()) // HOUR_MICROS * HOUR_MICROS
        counts.append((hour, PRUNED, LIVE, unseen))
    return Rejections(last, counts)
