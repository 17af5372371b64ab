"""Catalog with an open incident and a resolved one."""

import pytest

from lineage.catalog import tables
from tests.alerts.detection.catalog_builder import micros
from tests.alerts.detection.conftest import DetectorHarness

NOON = 12 * 3600


@pytest.fixture
def watched(embedded):
    """Return a catalog where `raw` failed and `core` is late by it; a test of `mart` failed."""
    made = DetectorHarness(embedded)
    made.estate.add("raw", "core", "mart")
    made.estate.chain("raw", "core")
    made.at(NOON)
    made.estate.say("mart", "bad", "assertion_failed", sli="facts", since=NOON)
    made.until(NOON + 60)
    made.estate.say("mart", "good", sli="facts")
    made.until(NOON + 180)
    made.estate.fail("raw", NOON + 200)
    made.estate.say("raw", "bad", "job_failed", limit_seconds=NOON + 210.0)
    made.estate.say("core", "bad", "upstream_late", limit_seconds=NOON + 210.0)
    made.until(NOON + 300)
    return made


@pytest.fixture
def number(watched):
    """Return the id of the open incident."""
    [row] = [row for row in watched.rows(tables.incident) if row.state == "open"]
    assert row.onset == micros(NOON + 200)
    return row.incident_id
