"""Retention of the spool: events that all readers have passed go once old, or if space is short."""

import sqlite3

from collector.settings import Limits
from collector.spool_file import Room, fill_level
from lineage.input_log.spool_tables import count_waiting
from lineage.origins import FROM_MARQUEZ
from lineage.process.clock import SECOND_MICROS, Clock, to_micros

_ROWS = 1_000
_PRESSED_SHARE = 0.8
_FULL_SHARE = 0.95
_AHEAD_SECONDS = 300  # of our clock: further, the clock was wrong when the event was received
# Rows that may go are a beginning of the spool: what is left has no hole.
_FIRST_KEPT = """
    SELECT min(seq) FROM (SELECT seq, received_at FROM event WHERE seq <= ? ORDER BY seq LIMIT ?)
    WHERE received_at BETWEEN ? AND ?
"""
_DELETE_GAPS = """
    DELETE FROM gap WHERE started_at <=
        (SELECT started_at FROM gap ORDER BY started_at DESC LIMIT 1 OFFSET 10000)
"""
_LAST = "SELECT max(seq) FROM (SELECT seq FROM event WHERE seq <= ? ORDER BY seq LIMIT ?)"


class SpoolRetention:
    """Positions of the readers, and the events that may be deleted by them.

    Attributes:
        room: of the spool, as the writer saw it last; None: it has not looked yet.
        waiting_events: that the pipeline had not passed then; None if its position is not known.
    """

    def __init__(self, connection: sqlite3.Connection, limits: Limits, clock: Clock) -> None:
        self._connection = connection
        self._limits = limits
        self._clock = clock
        self._through = 0
        self._needed_through: int | None = None
        self.room: Room | None = None
        self.waiting_events: int | None = None

    def allow_deletion(self, seq: int, needed: int | None = None) -> None:
        """Allow the writer, when idle, to delete rows up to `seq` whose keep time is over.

        Args:
            seq: every reader has passed it.
            needed: the pipeline has. Before the spool is full, and senders are rejected, what waits
                for a Marquez alone goes, and is counted in the table `unforwarded`.
        """
        self._through = seq
        self._needed_through = seq if needed is None else needed

    def prune(self) -> None:
        """Delete some of what may go: in the writer's thread, and its transaction."""
        self.room = fill_level(self._connection)
        if self._needed_through is not None:
            self.waiting_events = count_waiting(self._connection, self._needed_through)
        is_full = self.room.share > _FULL_SHARE
        through = (self._needed_through or 0) if is_full else self._through
        kept = self._kept(self.room.share)
        # Looked at first: it alone is asked ten times a second, whatever the spool holds.
        last = None if self._last_old(through, kept, 1) is None else self._last_old(through, kept)
        if last is not None:
            self._delete(through, last)
        self._connection.execute(
            "DELETE FROM rejected WHERE id <= (SELECT max(id) FROM rejected) - ?",
            (self._limits.max_rejected_rows,),
        )
        self._connection.execute(_DELETE_GAPS)

    def _last_old(self, through: int, kept: tuple[int, int], rows: int = _ROWS) -> int | None:
        """Return the last of the oldest rows that may be deleted, or None."""
        first = self._connection.execute(_FIRST_KEPT, (through, rows, *kept)).fetchone()[0]
        end = through if first is None else first - 1
        last: int | None = self._connection.execute(_LAST, (end, rows)).fetchone()[0]
        return last

    def _delete(self, through: int, last: int) -> None:
        if through > self._through:
            self._count_unforwarded(last)
        self._connection.execute("DELETE FROM event WHERE seq <= ?", (last,))
        self._connection.execute(
            "INSERT INTO pruned VALUES (1, ?)"
            " ON CONFLICT (id) DO UPDATE SET through_seq = excluded.through_seq",
            (last,),
        )

    def _count_unforwarded(self, last: int) -> None:
        self._connection.execute(
            "INSERT INTO unforwarded SELECT 1, count(*), coalesce(max(seq), 0) FROM event"
            " WHERE seq > ? AND seq <= ? AND origin NOT IN (?, ?) HAVING count(*) > 0"
            " ON CONFLICT (id) DO UPDATE SET events = events + excluded.events,"
            " through_seq = excluded.through_seq",
            (self._through, last, *FROM_MARQUEZ),
        )

    def _kept(self, share: float) -> tuple[int, int]:
        """Return the range of receive times, in µs, whose events stay; 1 to 0 is no time."""
        now = to_micros(self._clock())
        # An event that every reader has passed is worth less than the next one.
        if share > _PRESSED_SHARE:
            return 1, 0
        kept = int(self._limits.keep_seconds * SECOND_MICROS)
        return now - kept, now + _AHEAD_SECONDS * SECOND_MICROS
