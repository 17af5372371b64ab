"""Incident step of production, run over stored changes."""

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from sqlalchemy import select

from alerts.detection import fault_detection
from lab.gameday.driver.incident_walk import walk
from lab.gameday.driver.staged_catalog import Stage
from lab.gameday.truth_shapes import NamePattern
from lineage.catalog import tables
from lineage.catalog.engine import catalog_url, migrate, open_catalog
from lineage.policy import Policy
from lineage.policy.model import Owner
from tests.lab.gameday.driver.slabs import ORDERS, REVENUE, SECOND, START, activity, change, slab

POLICY = Policy(
    owners=(
        Owner("shop", "#shop", "keys/shop"),
        Owner("platform", "#platform", "keys/platform"),
    )
)
WELL = [
    change(0, ORDERS, "good"),
    change(0, REVENUE, "good"),
    change(0, ORDERS, "good", sli="M1"),
    change(0, REVENUE, "good", sli="M1"),
]
KNOWN = [
    activity(ORDERS, -600, "clean_orders"),
    activity(REVENUE, -300, "build_revenue"),
]


@pytest.fixture
def engine(tmp_path):
    engine = open_catalog(catalog_url(tmp_path))
    migrate(engine)
    yield engine
    engine.dispose()


def pages_of(walked):
    return [(each.at, each.root, each.to) for each in walked.messages if each.what == "page"]


def test_a_healthy_estate_is_silent(engine):
    """Walk six hours of it, without a message."""
    assert walk(engine, POLICY, [slab(6, WELL, KNOWN)]).messages == []


def test_one_fault_is_one_page_with_all_affected_datasets(engine):
    """Page once for a source and its waiting downstream, thirty seconds after it was found."""
    bad = [
        change(3_360, ORDERS, "bad", "silent"),
        change(3_660, REVENUE, "bad", "upstream_late"),
        change(9_000, ORDERS, "good"),
        change(9_300, REVENUE, "good"),
    ]
    known = [*KNOWN, activity(ORDERS, 8_990, "clean_orders")]
    known.append(activity(REVENUE, 9_290, "build_revenue"))

    walked = walk(engine, POLICY, [slab(6, [*WELL, *bad], known)])

    (page,) = [each for each in walked.messages if each.what == "page"]
    assert pages_of(walked) == [
        (START + 3_390 * SECOND, NamePattern("shop", "clean_orders"), "keys/shop"),
    ]
    assert NamePattern("s3://lake", "mart/revenue") in set(walked.resolve(page.full_list, page.at))
    over = [
        each.at for each in walked.messages if each.what == "resolved" and each.by == "pagerduty"
    ]
    assert over == [START + 9_345 * SECOND]


def test_without_the_search_for_roots_it_is_two_pages(engine, monkeypatch):
    """Let each bad dataset be a fault of its own (mutant): waiting ones page too."""
    real, none = fault_detection.find_faults, np.empty(0, dtype=np.intp)
    nothing = {"upstreams": none, "downstreams": none, "job_keys": none}
    monkeypatch.setattr(
        fault_detection,
        "find_faults",
        lambda facts, estate: real(facts, msgspec.structs.replace(estate, **nothing)),
    )
    bad = [
        change(3_360, ORDERS, "bad", "silent"),
        change(3_660, REVENUE, "bad", "upstream_late"),
    ]

    walked = walk(engine, POLICY, [slab(6, [*WELL, *bad], KNOWN)])

    assert len(pages_of(walked)) == 2


def test_a_limit_learned_in_a_slab_applies_after_it(engine):
    """Keep a dataset on time that gets a limit at the end of the slab."""
    stage = Stage(engine)
    learned = select(tables.dataset_limit.c.learned_at)
    seen = []
    for number in (1, 2, 3):
        given = slab(6, WELL, KNOWN)
        limits = [row | {"learned_at": number} for row in given.tables["dataset_limit"].to_pylist()]
        taught = given.tables | {"dataset_limit": pa.Table.from_pylist(limits)}
        stage.enter(msgspec.structs.replace(given, tables=taught))
        with engine.connect() as connection:
            seen.append(connection.scalars(learned).first())

    assert seen == [1, 1, 2]


def test_a_change_after_the_last_evaluation_of_a_slab_is_known_in_the_next(engine):
    """Judge a run of the last half hour in the next slab: no evaluation came after it."""
    stage = Stage(engine)
    stage.enter(slab(6, WELL, [*KNOWN, activity(ORDERS, 21_000, "clean_orders")]))
    stage.bring(START + 18_000 * SECOND)
    stage.enter(slab(6, WELL, []))

    own = tables.dataset_activity.c
    with engine.connect() as connection:
        written = connection.scalar(select(own.last_written_at).where(own.dataset_key == ORDERS))
    assert written == START + 21_000 * SECOND


def test_an_acknowledged_page_is_not_escalated(engine):
    """Acknowledge the incident five minutes later: no escalation follows."""
    bad = [change(3_360, ORDERS, "bad", "silent")]

    walked = walk(engine, POLICY, [slab(6, [*WELL, *bad], KNOWN)])

    assert len(pages_of(walked)) == 1
    assert "resolved" not in {each.what for each in walked.messages}


def test_a_page_that_comes_back_is_acknowledged(engine):
    """Recover within five minutes, and turn bad again for longer than a second page waits."""
    bad = [
        change(3_360, ORDERS, "bad", "silent"),
        change(3_420, ORDERS, "good"),
        change(4_200, ORDERS, "bad", "silent"),
    ]
    known = [*KNOWN, activity(ORDERS, 3_410, "clean_orders")]

    assert len(pages_of(walk(engine, POLICY, [slab(6, [*WELL, *bad], known)]))) == 1


def test_a_short_bad_state_is_not_notified(engine):
    """Notify nobody of a state that recovers within the hold."""
    bad = [change(3_360, ORDERS, "bad", "silent"), change(3_380, ORDERS, "good")]

    assert pages_of(walk(engine, POLICY, [slab(6, [*WELL, *bad], KNOWN)])) == []
