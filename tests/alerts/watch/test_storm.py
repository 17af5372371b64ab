"""Ten thousand datasets go bad from one source: one page. Or hundreds from as many."""

import itertools
from collections import Counter

from sqlalchemy import event, insert

from alerts.delivery.message import from_json
from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.catalog.upsert import fold_rows
from lineage.policy.model import Owner, Policy
from tests.alerts.watch.conftest import Watched
from tests.alerts.watch.estate import micros, rows_of

NOON = 12 * 3600
MANY = 10_000
FAULTS = 300
_LATE = {"sli": "M2", "state": "bad", "since": micros(NOON), "limit_seconds": NOON + 60.0}


def test_a_storm_is_one_page(embedded):
    """A tree of ten levels' worth: each is made of the one at a third of its number."""
    names = [f"d{number}" for number in range(MANY)]
    rows = rows_of(names, tier="critical")
    for row, name in zip(rows["dataset_state"], names, strict=True):
        row.update(_LATE, reason="job_failed" if name == "d0" else "upstream_late")
    with writing(embedded) as connection:
        for table, values in rows.items():
            connection.execute(insert(tables.metadata.tables[table]), values)
    watched = Watched(embedded)
    for number in itertools.islice(itertools.count(1), MANY - 1):
        watched.estate.pend_edge(names[number // 3], names[number])
    watched.estate.flush_edges()
    watched.estate.fail("d0", NOON)
    watched.policy = Policy(owners=(Owner(name="sales", slack="#sales", pagerduty_key_file="k"),))
    watched.at(NOON + 120)
    watched.until(NOON + 180)

    assert watched.one.what == "make_d0 failed; 10,000 datasets are bad by it"
    told = {row.channel: from_json(row.message) for row in watched.rows(tables.notification)}
    assert set(told) == {"slack:#sales", "pagerduty:k"}
    assert told["pagerduty:k"].impacted_count == MANY


def test_faults_that_open_together_are_written_together(embedded):
    """As in an estate that is seen for the first time: statements do not grow with their number."""
    names = [f"d{number}" for number in range(FAULTS)]
    watched = Watched(embedded)
    watched.estate.add(*names)
    for name in names:
        watched.estate.say(name, "bad", "late", limit_seconds=NOON + 60.0)
    watched.at(NOON + 120)

    asked = Counter()
    event.listen(embedded, "before_cursor_execute", lambda *said: asked.update([said[2]]))
    opened = watched.until(NOON + 180)

    assert sum(asked.values()) < FAULTS, asked.most_common(5)
    assert opened == ["opened"] * FAULTS
    assert len(watched.rows(tables.incident_member)) == FAULTS
    assert len(watched.rows(tables.incident_telling)) == FAULTS


def test_a_turn_that_changes_nothing_begins_no_write_transaction(embedded):
    """A thousand incidents are remembered for an hour after they were resolved."""
    names = [f"d{number}" for number in range(MANY // 10)]
    watched = Watched(embedded)
    watched.estate.add(*names)
    _say_all(embedded, names, _LATE | {"reason": "late"})
    watched.at(NOON + 120)
    watched.at(NOON + 150)
    _say_all(embedded, names, {"state": "good"})
    watched.at(NOON + 160)
    watched.at(NOON + 205)
    assert Counter(row.state for row in watched.rows()) == {"resolved": len(names)}
    watched.look(NOON + 206)

    begun = Counter()
    event.listen(embedded, "before_cursor_execute", lambda *said: begun.update([said[2]]))
    for second in range(207, 257):
        watched.watch(embedded)
        watched.look(NOON + second)

    assert begun["BEGIN IMMEDIATE"] == 0


def _say_all(engine, names, said):
    rows = rows_of(names)["dataset_state"]
    with writing(engine) as connection:
        fold_rows(connection, tables.dataset_state, [{**row, **said} for row in rows])
