"""What the spool's readers have passed: it goes once it is old, or the spool is short of room."""

import sqlite3

from collector.settings import Limits
from collector.spool_file import Room, room
from lineage.clock import Clock, to_micros
from lineage.origins import FROM_MARQUEZ

_ROWS = 1_000
_PRESSED_SHARE = 0.8
_FULL_SHARE = 0.95


class Passed:
    """How far the readers are, and what goes by that.

    Attributes:
        room: of the spool, as the writer saw it last; None: it has not looked yet.
    """

    def __init__(self, connection: sqlite3.Connection, limits: Limits, clock: Clock) -> None:
        self._connection = connection
        self._limits = limits
        self._clock = clock
        self._through = 0
        self._needed_through: int | None = None
        self.room: Room | None = None

    def through(self, seq: int, needed: int | None = None) -> None:
        """Let rows up to `seq` go once their keep time is over, in the writer's idle moments.

        Args:
            seq: every reader has passed it.
            needed: the pipeline has. Before the spool is full, and senders are refused, what waits
                for a Marquez alone goes, and is counted in the table `unforwarded`.
        """
        self._through = seq
        self._needed_through = seq if needed is None else needed

    @property
    def waiting_events(self) -> int | None:
        """How many the pipeline has not passed; None where its place is not known."""
        if self.room is None or self._needed_through is None:
            return None
        return max(0, self.room.last_seq - self._needed_through)

    def prune(self) -> None:
        """Delete some of what may go: in the writer's thread, and its transaction."""
        self.room = room(self._connection)
        is_full = self.room.share > _FULL_SHARE
        through = (self._needed_through or 0) if is_full else self._through
        oldest = self._connection.execute(
            "SELECT received_at FROM event WHERE seq <= ? ORDER BY seq LIMIT 1", (through,)
        ).fetchone()
        before = self._keep_since(self.room.share)
        # Looked at first: it alone is asked ten times a second, whatever the spool holds.
        if oldest is not None and oldest[0] < before:
            self._delete(through, before)
        self._connection.execute(
            "DELETE FROM rejected WHERE id <= (SELECT max(id) FROM rejected) - ?",
            (self._limits.max_rejected_rows,),
        )

    def _delete(self, through: int, before: int) -> None:
        if through > self._through:
            self._count_unforwarded(through)
        self._connection.execute(
            "DELETE FROM event WHERE received_at < ? AND seq IN"
            " (SELECT seq FROM event WHERE seq <= ? ORDER BY seq LIMIT ?)",
            (before, through, _ROWS),
        )

    def _count_unforwarded(self, through: int) -> None:
        self._connection.execute(
            "INSERT INTO unforwarded SELECT 1, count(*), coalesce(max(seq), 0) FROM (SELECT seq,"
            " origin FROM event WHERE seq <= ? ORDER BY seq LIMIT ?)"
            " WHERE seq > ? AND origin NOT IN (?, ?) HAVING count(*) > 0"
            " ON CONFLICT (id) DO UPDATE SET events = events + excluded.events,"
            " through_seq = excluded.through_seq",
            (through, _ROWS, self._through, *FROM_MARQUEZ),
        )

    def _keep_since(self, share: float) -> int:
        """Instant from which on events stay, whoever has read them; µs."""
        now = to_micros(self._clock())
        # An event that every reader has passed is worth less than the next one.
        if share > _PRESSED_SHARE:
            return now + 1
        return now - int(self._limits.keep_seconds * 1e6)
