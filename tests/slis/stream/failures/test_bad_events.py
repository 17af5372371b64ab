"""Events that fail: each is set aside alone; all others land, once each."""

from unittest.mock import Mock

import pytest

from lineage.policy import CompiledFolds
from slis.settings import SharedPaths
from slis.stream import batch
from slis.stream.facts import Facts
from slis.stream.failures import set_aside as set_asides
from slis.stream.failures.attempts import Attempts
from slis.stream.landing import BatchLanding, WaitError
from slis.stream.log import spool_log
from slis.stream.log.spool_reader import BatchLimits
from slis.stream.staging.staging import StagedRows
from tests.slis.lake.lakes import read_seqs, writer_of
from tests.slis.stream.spools import rows, run_event, spool

EVENTS = 4  # two halvings: test_attempts.py searches longer ranges, without Spark
_SAME_SQL = "which range is tried next is no matter of SQL"
_SET_ASIDE = "SELECT spool_seq, error FROM event_set_aside ORDER BY 1"


class Odd(Exception):  # noqa: N818 - read as a word
    """Error of an odd event."""


class Killed(BaseException):
    """End of a process, as an exception."""


class Failing:
    """Stand-in for `staged_rows`: batches that hold one of these runs fail by this error."""

    def __init__(self) -> None:
        self.runs: set[str] = set()
        self.error: type[BaseException] = Odd
        self._works = batch.staged_rows

    def __call__(self, facts: Facts, folds: CompiledFolds, *, are_history: bool) -> StagedRows:
        """Fail, or work."""
        found = self._works(facts, folds, are_history=are_history)
        columns, values = found["s_run"]
        at = list(columns).index("run_id")
        if bad := self.runs & {row[at] for row in values}:
            raise self.error(f"{min(bad)} fails")
        return found


@pytest.fixture
def odd(monkeypatch):
    """Make events of the given runs fail."""
    failing = Failing()
    monkeypatch.setattr(batch, "staged_rows", failing)
    return failing


@pytest.fixture
def landing(catalog, tmp_path, at):
    """Fill a spool with four events of a run each, and open what lands them."""
    place = SharedPaths(data_dir=tmp_path)
    events = [
        run_event("COMPLETE", at(1, number), run=f"r{number:02}", outputs=[f"t{number:02}"])
        for number in range(1, EVENTS + 1)
    ]
    spool(place.spool, events, received_at=at(12))
    limits = BatchLimits(100, 1 << 20)
    given = {"limits": limits, "clock": lambda: at(12)}
    return BatchLanding(catalog, place, **given)


def _work_off(landing):
    """Try as the thread does, again after a failure; return the number of failures."""
    failures = 0
    while True:
        try:
            if not landing.step():
                return failures
        except Odd:
            failures += 1
        assert failures < 200


@pytest.mark.postgres_nightly(but="bad2")
@pytest.mark.parametrize("bad", [[1], [2, 3], [4], [1, 3]])
def test_the_events_that_fail_are_set_aside_and_the_others_land(
    landing, catalog, tmp_path, odd, bad
):
    """Move the cursor to the end, without a gap in the ranges; the lake has every event."""
    odd.runs.update(f"r{number:02}" for number in bad)

    _work_off(landing)

    assert rows(catalog, _SET_ASIDE) == [(n, f"Odd: r{n:02} fails") for n in bad]
    landed = [f"r{n:02}" for n in range(1, EVENTS + 1) if n not in bad]
    assert rows(catalog, "SELECT run_id FROM run ORDER BY 1") == [(one,) for one in landed]
    assert rows(catalog, "SELECT seq FROM reader_cursor") == [(EVENTS,)]
    ranges = rows(catalog, "SELECT after_seq, last_seq FROM batch ORDER BY 1")
    assert [start for start, _ in ranges] == [0, *(end for _, end in ranges)][:-1]
    assert rows(catalog, "SELECT sum(events) FROM batch") == [(EVENTS,)]
    assert read_seqs(writer_of(catalog, tmp_path)) == list(range(1, EVENTS + 1))
    errors = "SELECT spool_seq, reason FROM pipeline_error ORDER BY 1"
    assert rows(catalog, errors) == [(n, "set_aside") for n in bad]


def test_a_set_aside_event_is_stored_with_details_of_its_body(landing, catalog, odd):
    """Let people find its sender without the lake."""
    odd.runs.add("r03")

    _work_off(landing)

    names = "SELECT producer, job_namespace, job_name, run_id FROM event_set_aside"
    assert rows(catalog, names) == [("https://example.test/producer", "j", "app", "r03")]


@pytest.mark.parametrize(
    ("body", "producer", "run_id"),
    [
        (b'{"producer": "p", "run": {"runId": "r"}, "job": null}', "p", "r"),
        (b'{"producer": 7, "run": "r"}', None, None),
        (b'{"producer": "https://me:secret@host/"}', "https://[redacted]@host/", None),
        (b'{"producer": "a\\u0000\\ud800b"}', None, None),
        (b"[" * 100_000, None, None),
        (b"\xff", None, None),
    ],
    ids=["text run", "number", "login", "lone surrogate", "deep", "no text"],
)
def test_names_are_read_from_any_body(body, producer, run_id):
    """Read the body of an event that failed: nothing in it is certain."""
    found = set_asides.names_in(body)

    assert (found["producer"], found["run_id"]) == (producer, run_id)


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_no_event_is_set_aside_when_all_fail(landing, catalog, odd):
    """Wait: a control event fails as well, so the fault is Lineward's or the machine's."""
    odd.__class__ = Always

    errors = [_try(landing) for _ in range(10)]

    assert errors.count("a control event fails as well: Odd: always") >= 2
    assert rows(catalog, "SELECT count(*) FROM event_set_aside") == [(0,)]
    assert rows(catalog, "SELECT count(*) FROM batch") == [(0,)]


class Always(Failing):
    """Stand-in that fails every batch."""

    def __call__(self, *_: object, **__: object) -> StagedRows:
        """Fail."""
        raise Odd("always")


def _try(landing):
    try:
        landing.step()
    except (Odd, WaitError) as error:
        return str(error)
    return "landed"


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_a_control_event_leaves_nothing(landing, catalog, tmp_path, odd):
    """Delete rows and folders; the waiting events land behind it."""
    odd.runs.add(f"r{EVENTS:02}")
    _work_off(landing)

    assert rows(catalog, "SELECT count(*) FROM run WHERE run_id NOT LIKE 'r%'") == [(0,)]
    assert rows(catalog, "SELECT count(*) FROM dataset WHERE namespace <> 'n'") == [(0,)]
    assert not (tmp_path / "lake-control").exists()


@pytest.mark.postgres_nightly(but="read_next_events")
@pytest.mark.parametrize("place", ["merge", "write_raw", "read_next_events"])
def test_a_full_disk_or_an_absent_catalog_sets_nothing_aside(landing, catalog, monkeypatch, place):
    """Set nothing aside at any number of failures; once there is space, land one batch."""
    owner = {"merge": batch, "write_raw": batch, "read_next_events": spool_log}[place]
    works = getattr(owner, place)

    full = Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr(owner, place, full)
    for _ in range(3):  # an event that fails alone is set aside after two
        with pytest.raises(WaitError, match="No space left"):
            landing.step()
    monkeypatch.setattr(owner, place, works)

    assert _work_off(landing) == 0
    assert rows(catalog, "SELECT count(*), sum(events) FROM batch") == [(1, EVENTS)]
    assert rows(catalog, "SELECT count(*) FROM event_set_aside") == [(0,)]


@pytest.mark.postgres_nightly(_SAME_SQL)
def test_an_event_that_ends_the_process_is_set_aside_by_a_later_one(
    landing, catalog, tmp_path, odd
):
    """Try once per process: each vanishes, and the next one reads the file of tries."""
    odd.runs, odd.error = {"r03"}, Killed
    attempts = SharedPaths(data_dir=tmp_path).attempts
    lives = 0
    while lives < 60:
        lives += 1
        landing._attempts = Attempts(attempts)  # noqa: SLF001 - as a new process reads it
        try:
            landing.work_off()
        except Killed:
            continue
        break

    assert rows(catalog, _SET_ASIDE) == [
        (3, "the process of the pipeline ended each time that it landed this event")
    ]
    assert rows(catalog, "SELECT count(*) FROM run") == [(EVENTS - 1,)]
    assert 2 * 2 < lives < 60


@pytest.mark.postgres_nightly
def test_an_uncommitted_set_aside_event_is_tried_again(landing, catalog, odd, monkeypatch):
    """Kill between lake and catalog: set the same event aside, once."""
    odd.runs.add("r01")
    works = set_asides.record_batch
    failures = [OSError(5, "Input/output error")]

    def dying(connection, log_range, **counts: int):
        if failures:
            raise failures.pop()
        works(connection, log_range, **counts)

    monkeypatch.setattr(set_asides, "record_batch", dying)
    waits = 0
    while True:
        try:
            if not landing.step():
                break
        except WaitError:
            waits += 1
        except Odd:
            pass

    assert waits == 1
    assert [seq for seq, _ in rows(catalog, _SET_ASIDE)] == [1]
    assert rows(catalog, "SELECT count(*) FROM run") == [(EVENTS - 1,)]


@pytest.mark.postgres_nightly
def test_batches_bounded_by_bytes_land_each_event_once(catalog, tmp_path, at):
    """Land three of 200 kB under a bound of 300 kB: one each, since no two fit."""
    place, landed = SharedPaths(data_dir=tmp_path), []
    facets = {"x": {"y": "a" * 200_000}}
    events = [run_event("START", at(1, n), run=f"r{n}", facets=facets) for n in range(3)]
    spool(place.spool, events, received_at=at(12))
    given = {"limits": BatchLimits(100, 300_000), "clock": lambda: at(12), "landed": landed.append}
    BatchLanding(catalog, place, **given).work_off()

    assert [each.events for each in landed] == [1] * 3
    assert rows(catalog, "SELECT count(*) FROM event") == [(3,)]
