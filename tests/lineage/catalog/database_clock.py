"""Clock of a SQLite catalog that tests set, independent of the clock of the process."""

from sqlalchemy import Engine, event

_DAY_MICROS = 86_400_000_000
_EPOCH_DAY = 2_440_587.5


class DatabaseClock:
    """Clock behind `julianday('now')` on all connections of its engines.

    Attributes:
        micros: the time, µs.
    """

    def __init__(self, *engines: Engine, micros: int = 946_684_800_000_000) -> None:
        self.micros = micros
        for engine in engines:
            engine.dispose()
            event.listen(engine, "connect", self._replace)

    def pass_(self, seconds: float) -> None:
        """Let time go by."""
        self.micros += int(seconds * 1_000_000)

    def _replace(self, connection, _record) -> None:
        days = lambda _now: self.micros / _DAY_MICROS + _EPOCH_DAY  # noqa: E731
        connection.create_function("julianday", 1, days)
