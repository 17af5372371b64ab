"""Storms: 10,000 datasets go bad from one source, with one page. Or hundreds from as many."""

import itertools
import tracemalloc
from collections import Counter

from sqlalchemy import event, insert

from alerts.detection.fault_detection import detect_faults
from alerts.incidents import member_store
from alerts.notify.message import from_json
from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.catalog.upsert import fold_rows
from lineage.policy.model import Owner, Policy
from tests.alerts.detection.catalog_builder import micros, rows_of
from tests.alerts.detection.conftest import DetectorHarness

NOON = 12 * 3600
MANY = 10_000
FAULTS = 300
BELOW = 3_000
_LATE = {"sli": "M2", "state": "bad", "since": micros(NOON), "limit_seconds": NOON + 60.0}


def test_a_storm_is_one_page(embedded):
    """Page once for a tree of ten levels; each dataset is made of that at a third of its number."""
    names = [f"d{number}" for number in range(MANY)]
    rows = rows_of(names, tier="critical")
    for row, name in zip(rows["dataset_state"], names, strict=True):
        row.update(_LATE, reason="job_failed" if name == "d0" else "upstream_late")
    with write_transaction(embedded) as connection:
        for table, values in rows.items():
            connection.execute(insert(tables.metadata.tables[table]), values)
    watched = DetectorHarness(embedded)
    for number in itertools.islice(itertools.count(1), MANY - 1):
        watched.estate.pend_edge(names[number // 3], names[number])
    watched.estate.flush_edges()
    watched.estate.fail("d0", NOON)
    watched.policy = Policy(owners=(Owner(name="sales", slack="#sales", pagerduty_key_file="k"),))
    watched.at(NOON + 120)
    watched.until(NOON + 180)

    assert watched.one.what == "Job make_d0 failed; 10,000 datasets bad"
    messages = {row.channel: from_json(row.message) for row in watched.rows(tables.notification)}
    assert set(messages) == {"slack:#sales", "pagerduty:k"}
    assert messages["pagerduty:k"].impacted_count == MANY


def test_faults_that_open_together_are_written_together(embedded):
    """Write the faults of a first evaluation with as many statements as those of a few."""
    names = [f"d{number}" for number in range(FAULTS)]
    watched = DetectorHarness(embedded)
    watched.estate.add(*names)
    for name in names:
        watched.estate.say(name, "bad", "late", limit_seconds=NOON + 60.0)
    watched.at(NOON + 120)

    asked = Counter()
    event.listen(embedded, "before_cursor_execute", lambda *values: asked.update([values[2]]))
    opened = watched.until(NOON + 180)

    assert sum(asked.values()) < FAULTS, asked.most_common(5)
    assert opened == ["opened"] * FAULTS
    assert len(watched.rows(tables.incident_member)) == FAULTS
    assert len(watched.rows(tables.incident_notification)) == FAULTS


def test_a_turn_without_changes_begins_no_write_transaction(embedded):
    """Write nothing for a thousand incidents that are kept for an hour after their end."""
    names = [f"d{number}" for number in range(MANY // 10)]
    watched = DetectorHarness(embedded)
    watched.estate.add(*names)
    _say_all(embedded, names, _LATE | {"reason": "late"})
    watched.at(NOON + 120)
    watched.until(NOON + 420)
    _say_all(embedded, names, {"state": "good"})
    watched.until(NOON + 800)
    assert Counter(row.state for row in watched.rows()) == {"resolved": len(names)}

    begun = Counter()
    event.listen(embedded, "before_cursor_execute", lambda *values: begun.update([values[2]]))
    for second in range(801, 821):
        watched.look(NOON + second)

    assert begun["BEGIN IMMEDIATE"] == 0


def test_memory_and_rows_do_not_grow_with_the_number_of_faults(embedded, monkeypatch):
    """Bound the rows of 300 unrelated faults upstream of the same 3,000 datasets.

    One list for each fault would be 900,000 rows, and over 100 MiB here.
    """
    monkeypatch.setattr(member_store, "_MAX_ROWS", 6_000)
    monkeypatch.setattr(member_store, "_MIN_PER_LIST", 30)
    roots = [f"r{number}" for number in range(FAULTS)]
    below = [f"b{number}" for number in range(BELOW)]
    watched = DetectorHarness(embedded)
    watched.estate.add("hub", *roots, *below)
    for end in below:
        watched.estate.pend_edge("hub", end)
    for start in roots:
        watched.estate.pend_edge(start, "hub")
    watched.estate.flush_edges()
    _say_all(embedded, roots, _LATE | {"reason": "late"})
    rows = Counter()
    event.listen(embedded, "after_cursor_execute", lambda *values: _count_rows(rows, values))

    tracemalloc.start()
    watched.at(NOON + 120)
    opened = watched.until(NOON + 240)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert opened == ["opened"] * FAULTS
    assert peak < 60 * 1024 * 1024, peak
    assert 0 < max(rows.values()) <= 6_000
    counts = {row.impact_count for row in watched.rows()}
    assert counts == {BELOW + 2}


def test_a_search_that_takes_long_pauses_for_longer(embedded, monkeypatch):
    """Search again after 30 s if a search takes ten seconds, however often runs fail."""
    watched = DetectorHarness(embedded)
    watched.estate.add("core")
    watched.at(NOON)
    clock, searches = [0.0], []

    def find_slowly(*given):  # noqa: ANN002
        clock[0] += 10
        searches.append(given)
        return detect_faults(*given)

    monkeypatch.setattr("alerts.detection.incident_detector.detect_faults", find_slowly)
    monkeypatch.setattr("alerts.detection.incident_detector.monotonic", lambda: clock[0])
    for seconds in (70, 80, 99, 100):
        watched.estate.fail("core", NOON + seconds)
        watched.look(NOON + seconds)

    assert len(searches) == 2
    watched.at(NOON + 105)
    assert len(searches) == 3  # a new evaluation needs no pause


def _count_rows(rows, values):
    """Count rows of affected datasets by transaction."""
    _, _, statement, parameters, _, is_many = values
    if statement.startswith("BEGIN"):
        rows["transactions"] += 0
        rows[len(rows)] = 0
    if "INTO incident_impact" in statement:
        rows[len(rows) - 1] += len(parameters) if is_many else len(parameters) // 3


def _say_all(engine, names, values):
    rows = rows_of(names)["dataset_state"]
    with write_transaction(engine) as connection:
        fold_rows(connection, tables.dataset_state, [{**row, **values} for row in rows])
