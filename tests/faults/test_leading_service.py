"""Check two real services on PostgreSQL: each page once, though leaders are paused and killed."""

import os

import pytest
from sqlalchemy import select

from lineage.catalog import tables
from tests.alerts.notify.conftest import authority, pagerduty
from tests.faults.chance import draw
from tests.faults.services import Services
from tests.service.one_page.shop import KEY
from tests.suite.waiting import until

__all__ = ["authority", "pagerduty"]

_SHORT = (
    "tests/service/one_page/test_two_services.py::"
    "test_a_leader_that_was_paused_while_it_sent_does_not_send_again"
)
pytestmark = [pytest.mark.faults, pytest.mark.nightly(short=_SHORT)]

_DATASETS = ("raw", "clicks", "orders")
_POLICY = """
owners:
  - {name: sales, pagerduty_key_file: sales.key}
"""


@pytest.fixture
def services(databases, pagerduty, tmp_path):
    """Start both on an empty catalog in PostgreSQL."""
    engine = databases.take()
    (tmp_path / "sales.key").write_text(KEY)
    settings = {
        "LINEWARD_DELIVERY_PAGERDUTY_URL": pagerduty.url,
        "LINEWARD_DELIVERY_PAGERDUTY_KEYS": str(tmp_path),
        "LINEWARD_DELIVERY_PAGERDUTY_CA_FILE": str(pagerduty.write_authority(tmp_path / "ca")),
        "LINEWARD_DELIVERY_TIMEOUT_SECONDS": "5",
    }
    running = Services(engine, tmp_path, _POLICY, **settings)
    yield running
    running.stop()
    databases.give_back(engine)


def _incidents(engine):
    with engine.connect() as connection:
        rows = connection.execute(select(tables.incident)).all()
        events = connection.execute(select(tables.incident_event)).all()
    return rows, sorted((each.incident_id, each.what) for each in events)


def _resolved(pagerduty):
    return list(pagerduty.alerts.values()).count("resolved")


def test_each_page_is_sent_once_though_leaders_are_paused_and_killed(services, pagerduty):
    """Take each page twice at least, open each alert once, and resolve each once."""
    rounds, engine = int(os.environ.get("LINEWARD_PART_KILLS", "1")), services.builder.engine
    chance = draw()
    until(services.leader, describe=services.logs)
    for number in range(rounds):
        names = [f"{name}{number}" for name in _DATASETS]
        services.builder.add(*names, tier="critical")
        for name in names:
            services.builder.own(name, "sales")
        services.fail(chance.sample(names, len(names)))
        expected = len(pagerduty.pages) + len(names)
        pagerduty.stalled.clear()  # what is sent is taken, and not answered
        services.disturb(lambda: len(pagerduty.events), pagerduty.stalled.set)
        services.wait(lambda expected=expected: len(pagerduty.pages) >= expected)
        services.heal(names)
        services.wait(lambda expected=expected: _resolved(pagerduty) >= expected)

    rows, events = _incidents(engine)
    numbers = sorted(each.incident_id for each in rows)
    assert len(numbers) == rounds * len(_DATASETS)
    assert sorted(pagerduty.pages) == [(KEY, number) for number in numbers]
    assert events == sorted((one, what) for one in numbers for what in ("opened", "resolved"))
    assert pagerduty.actions().count("trigger") > len(pagerduty.pages)
