"""Whole notifier with fakes of everything that it sends to."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.alerts.notify.conftest import authority, clock, pagerduty, slack
from tests.alerts.notify.messages import Ticking
from tests.fakes.pagerduty import FakePagerDuty
from tests.fakes.slack import FakeSlack
from tests.service.one_page.shop import PLATFORM_KEY, Shop, given

__all__ = ["authority", "clock", "pagerduty", "shop", "slack"]


@pytest.fixture
def shop(
    embedded: Engine,
    tmp_path: Path,
    clock: Ticking,
    slack: FakeSlack,
    pagerduty: FakePagerDuty,
) -> Shop:
    """Return a healthy shop."""
    assert PLATFORM_KEY in pagerduty.keys
    made = Shop(given(tmp_path, slack, pagerduty), embedded, clock)
    made.turn()
    return made
