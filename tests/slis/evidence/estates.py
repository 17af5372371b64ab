"""Catalog with rows of events and of the evidence of one application."""

from datetime import UTC, datetime, timedelta

from lineage.catalog.engine import write_transaction
from lineage.process.clock import to_micros
from slis.evidence import merge
from slis.evidence.join import join_evidence, time_parameters
from slis.evidence.rows import evidence_rows
from tests.slis.stream.spools import Lander, later, rows, run_event

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
_SETTLE = 300_000_000
APPLICATION = {"spark_applicationDetails": {"applicationId": "app-1"}}


class Estate:
    """Catalog with rows of events and of evidence."""

    def __init__(self, catalog, folder) -> None:
        self.catalog = catalog
        self._lander = Lander(catalog, folder, NOON)

    def land(self, *events: dict) -> None:
        """Land a batch of these events."""
        self._lander.land(*events)

    def log(self, *executions: dict, touched=(), stages=(), jobs=(), of=None) -> None:
        """Return the result of a pass over the logs; `of`: the application, if not the only one."""
        of = of or application()
        base = {"path": "log", "stream_run_id": None, "stream_batch": None, "error_message": None}
        unsaid = {"reads_unnamed": None}
        frames = {
            "applications": [of],
            "executions": [
                {**base, **unsaid, "root_execution_id": one["execution_id"], **one}
                for one in executions
            ],
            "touched": [{**base, "kind": "file", "is_whole": True, **one} for one in touched],
            "jobs": [{"path": "log", **one} for one in jobs],
            "stages": stages,
        }
        with write_transaction(self.catalog) as connection:
            names = merge.Names(connection)
            merge.merge_rows(
                connection, evidence_rows(frames, {"log": of["application_id"]}, names)
            )

    def join(self, *, minutes: float = 10) -> int:
        """Join evidence and events, so many seconds after noon."""
        now = to_micros(NOON + timedelta(minutes=minutes))
        with write_transaction(self.catalog) as connection:
            return join_evidence(
                connection, time_parameters(now=now, settle_micros=_SETTLE, horizon=0)
            )

    def rows(self, query):
        """Query the catalog."""
        return rows(self.catalog, query)


def application(attempt=1, *, after=0.0):
    """Return a row of `schemas.APPLICATIONS`: it has a listener."""
    is_first = attempt == 1
    return {
        "path": "log",
        "application_id": "app-1" if is_first else f"app-1/{attempt}",
        "attempt_of": None if is_first else "app-1",
        "app_name": "shop",
        "started_at": to_micros(later(NOON, after)),
        "ended_at": None,
        "spark_version": "4.3.0",
        "has_listener": True,
        "namespace": "j",
        "cut_after": None,
    }


def execution(number=0, *, after=0.0, lasts=1.0, **more: object):
    """Return a row of `schemas.EXECUTIONS`; `lasts` null: it has not ended."""
    started = to_micros(later(NOON, after))
    ended = None if lasts is None else started + int(lasts * 1e6)
    return {"execution_id": number, "started_at": started, "ended_at": ended, **more}


def write(number=0, name="out"):
    """Return a row of `schemas.TOUCHED`: an execution's plan names this output."""
    return {"execution_id": number, "direction": "write", "location": f"n/{name}"}


def stage(number=0, rows=None, *, execution_id=None):
    """Return a row of `schemas.STAGES`; `rows` null: it was submitted, and has not ended."""
    row_bytes = None if rows is None else rows * 10
    figures = {"at": to_micros(NOON), "rows": rows, "bytes": row_bytes}
    return {
        "path": "log",
        "stage_id": number,
        "attempt": 0,
        "execution_id": execution_id,
        **figures,
    }


def event(kind, after, **more: object):
    """Return an event of the run `r1`, which writes `out`, unless another is passed."""
    fields = {"facets": APPLICATION, "root": ("root", "shop"), "run": "r1", **more}
    return run_event(kind, later(NOON, after), job="shop.save", outputs=["out"], **fields)
