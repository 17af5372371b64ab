"""CPU time of PostgreSQL by statement of a merge, in the first and in the last half of a backlog.

Run by hand, `python -m tests.bench.merge_statements [EVENTS [CONDITION ...]]`: lands made-up events
in an empty catalog of a PostgreSQL of its own, and prints the microseconds an event of its session.
A condition is SQL that is run first, as `ALTER TABLE run SET (fillfactor = 80)` or
`DROP INDEX run_job`: what the same backlog costs without an index. At the end it copies all stored
rows into another catalog, which is the least that they cost. It asserts nothing. On a busy
machine CPU time is up to a third longer: compare runs that follow one another.
"""

import sys
import tempfile
from collections import Counter
from datetime import timedelta
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.event import listens_for

from lab.bench.catalogs import CatalogMeter
from lab.bench.pipeline import open_landing
from lineage.process.clock import system_clock
from lineage.process.logs import log_to_stderr
from slis.made_up_events import fill_spool, make_events
from slis.settings import SharedPaths
from slis.stream.merge.merge import MergeResult
from tests.bench.bare_copy import copy_nanos
from tests.bench.partition_merges import catalog

_APART = timedelta(milliseconds=1)
_SHOWN = 25
_NAME_LENGTH = 90
_NANOS = 1e3  # a microsecond


class StatementMeter:
    """Meter of the statements of one engine: CPU nanoseconds of the sessions, by statement.

    What the driver copies, and each commit, count to the statement that follows.
    """

    def __init__(self, engine: Engine) -> None:
        """Begin to count."""
        self.spent: Counter[str] = Counter()
        self._last: dict[int, int] = {}
        listens_for(engine, "after_cursor_execute")(self._count)

    def _count(self, connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        session = connection.connection.driver_connection.info.backend_pid  # type: ignore[union-attr]
        now = int(Path(f"/proc/{session}/schedstat").read_text().split()[0])
        self.spent[" ".join(statement.split())[:_NAME_LENGTH]] += now - self._last.get(session, now)
        self._last[session] = now


def main(count: int = 150_000, *conditions: str) -> None:
    """Print what the statements cost, the dearest first."""
    log_to_stderr("warning")
    halves: list[tuple[int, Counter[str]]] = []
    with tempfile.TemporaryDirectory() as name, catalog() as engine:
        with engine.begin() as connection:
            for condition in conditions:
                connection.exec_driver_sql(condition)
        place = SharedPaths(data_dir=Path(name), catalog_url=str(engine.url))
        start = system_clock() - count * _APART
        fill_spool(place.spool, make_events(count, seed=1, start=start, apart=_APART))
        meter, server, landed = StatementMeter(engine), CatalogMeter(engine), 0

        def note(result: MergeResult) -> None:
            nonlocal landed
            before, landed = landed, landed + result.events
            if before < count / 2 <= landed:
                halves.append((landed, Counter(meter.spent)))

        open_landing(engine, place, note).work_off()
        _print(halves[0], (count, meter.spent))
        cpu = (server.cpu_seconds() or 0.0) / count * 1e6
        print(f"{cpu:.1f} µs of the whole server, {(server.wal_bytes() or 0) / count:.0f} bytes of")  # noqa: T201
        print(f"write-ahead log and {server.table_bytes() / count:.0f} bytes of tables an event")  # noqa: T201
        bare = sum(copy_nanos(engine, count).values()) / count / _NANOS
        print(f"{bare:.1f} µs an event of a session that copies the same rows")  # noqa: T201


def _print(first: tuple[int, Counter[str]], whole: tuple[int, Counter[str]]) -> None:
    later = whole[0] - first[0]
    for name, spent in [*whole[1].most_common(_SHOWN), ("all", whole[1].total())]:
        early = first[1].total() if name == "all" else first[1][name]
        late = (spent - early) / max(later, 1) / _NANOS
        print(f"{early / first[0] / _NANOS:7.2f} {late:7.2f} {name}")  # noqa: T201 - its output


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:2]), *sys.argv[2:])
