"""Evidence and events brought together, in both kinds of catalog."""

from datetime import UTC, datetime, timedelta

import pytest

from lineage.catalog.engine import writing
from lineage.clock import to_micros
from slis.evidence import match, merge
from slis.evidence.join import join, times
from slis.evidence.rows import told
from slis.settings import Place, Settings
from slis.stream.prune import prune
from tests.slis.stream.spools import Lander, later, rows, run_event

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
_SETTLE = 300_000_000
_APPLICATION = {"spark_applicationDetails": {"applicationId": "app-1"}}
_WRITES = """
    SELECT d.name, w.is_reported, w.root_run_id FROM dataset_write w
    JOIN dataset d ON d.dataset_key = w.dataset_key ORDER BY 1
"""


class Estate:
    """A catalog, told by events and by evidence of one application."""

    def __init__(self, spark, catalog, folder) -> None:
        self.catalog = catalog
        self._lander = Lander(spark, catalog, folder, NOON)

    def land(self, *events: dict) -> None:
        """A batch of these."""
        self._lander.land(*events)

    def log(self, *executions: dict, touched=()) -> None:
        """What a pass over the event logs gives."""
        base = {"path": "log", "stream_run_id": None, "stream_batch": None, "error_message": None}
        frames = {
            "applications": [_application()],
            "executions": [
                {**base, "root_execution_id": one["execution_id"], **one} for one in executions
            ],
            "touched": [{**base, "kind": "file", "is_whole": True, **one} for one in touched],
            "jobs": [],
        }
        with writing(self.catalog) as connection:
            names = merge.Names(connection)
            merge.merge_told(connection, told(frames, {"log": "app-1"}, names))

    def join(self, *, minutes: float = 10) -> int:
        """Bring together what there is, so long after noon."""
        now = to_micros(NOON + timedelta(minutes=minutes))
        with writing(self.catalog) as connection:
            return join(connection, times(now=now, settle_micros=_SETTLE, horizon=0))

    def rows(self, query):
        """What the catalog answers."""
        return rows(self.catalog, query)


def _application():
    return {
        "path": "log",
        "application_id": "app-1",
        "app_name": "shop",
        "started_at": to_micros(NOON),
        "ended_at": None,
        "spark_version": "4.3.0",
        "has_listener": True,
        "namespace": "j",
        "cut_after": None,
    }


def _execution(number=0, *, after=0.0, lasts=1.0, **more: str):
    started = to_micros(later(NOON, after))
    ended = None if lasts is None else started + int(lasts * 1e6)
    return {"execution_id": number, "started_at": started, "ended_at": ended, **more}


def _write(number=0, name="out"):
    return {"execution_id": number, "direction": "write", "location": f"n/{name}"}


def _event(kind, after, **more: object):
    told_ = {"facets": _APPLICATION, "root": ("root", "shop"), **more}
    return run_event(kind, later(NOON, after), run="r1", job="shop.save", outputs=["out"], **told_)


@pytest.fixture
def estate(spark, catalog, tmp_path):
    return Estate(spark, catalog, tmp_path)


def test_a_failure_that_its_events_call_a_success_takes_the_write_back(estate):
    """At once: nothing that may still come makes it a success."""
    estate.land(_event("START", 0), _event("COMPLETE", 1))
    assert estate.rows(_WRITES) == [("out", True, "root")]

    estate.log(_execution(error_message="[DUPLICATE] no"))
    estate.join(minutes=0)

    assert estate.rows(_WRITES) == []
    failed = (
        "SELECT last_failed_run_id, last_failure FROM dataset_activity WHERE last_failed_at > 0"
    )
    assert estate.rows(failed) == [("r1", "[DUPLICATE] no")]


def test_another_start_is_another_run(estate):
    """A millisecond off: the failure is not this run's."""
    estate.land(_event("START", 0.001), _event("COMPLETE", 1.001))

    estate.log(_execution(error_message="no", lasts=0.5))
    estate.join()

    assert estate.rows(_WRITES) == [("out", True, "root")]


def test_a_run_is_known_by_its_end_where_its_start_was_lost(estate):
    """COMPLETE has the execution's end, and its parent names the application's run."""
    start = _event("START", -5, root=None)
    start["run"]["runId"], start["job"]["name"] = "root", "shop"
    start["job"]["facets"]["jobType"]["jobType"] = "APPLICATION"
    start["outputs"] = []
    estate.land(start, _event("COMPLETE", 1, facets={}))

    estate.log(_execution(error_message="no"))
    estate.join()

    assert estate.rows(_WRITES) == []


def test_an_end_that_nobody_told_is_evidence_until_it_is_told(estate):
    """The write is known, and not reported; the late COMPLETE makes it so."""
    estate.land(_event("START", 0))
    estate.log(_execution())

    assert estate.join(minutes=1) == 1
    assert estate.rows(_WRITES) == []
    estate.join()
    assert estate.rows(_WRITES) == [("out", False, "root")]

    estate.land(_event("COMPLETE", 1))
    estate.join(minutes=11)

    assert estate.rows(_WRITES) == [("out", True, "root")]


def test_what_no_event_names_stands_in_the_run_of_its_execution(estate):
    """A second output, and the input of both."""
    estate.land(_event("START", 0), _event("COMPLETE", 1))
    read = {**_write(name="in"), "direction": "read"}
    estate.log(_execution(), touched=[_write(), _write(name="more"), read])

    estate.join()

    assert estate.rows(_WRITES) == [("more", False, "root"), ("out", True, "root")]
    edges = """
        SELECT d.name, e.last_reported_at IS NULL FROM edge e
        JOIN dataset d ON d.dataset_key = e.downstream_key ORDER BY 1
    """
    assert [(name, bool(inferred)) for name, inferred in estate.rows(edges)] == [
        ("more", True),
        ("out", True),
    ]


def test_an_execution_that_has_not_ended_or_settled_says_nothing_yet(estate):
    """It may fail, and its events may be on their way."""
    estate.log(_execution(lasts=None), _execution(1, after=1), touched=[_write(), _write(1)])

    assert estate.join(minutes=2) == 0

    estate.join()
    assert estate.rows(_WRITES) == [("out", False, "app-1")]


def test_without_the_join_by_time_a_failure_would_stay_a_success(estate, monkeypatch):
    """The mutant of the first test."""
    monkeypatch.setattr(match, "_TOLD", ())
    estate.land(_event("START", 0), _event("COMPLETE", 1))

    estate.log(_execution(error_message="no"))
    estate.join()

    assert estate.rows(_WRITES) == [("out", True, "root")]


def test_evidence_goes_when_it_is_old(estate, tmp_path):
    """With its lists; what is younger stays."""
    estate.log(_execution(), _execution(1, after=86_400), touched=[_write(), _write(1)])

    settings = Settings(write_days=1)
    now = NOON + timedelta(days=1, hours=6)
    prune(estate.catalog, Place(data_dir=tmp_path), settings, now, lake_days=90)

    assert estate.rows("SELECT execution_id FROM execution") == [(1,)]
    assert estate.rows("SELECT count(*) FROM execution_io") == [(1,)]
