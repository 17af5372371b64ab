"""Fixtures of the tests of incidents."""

import pytest

from tests.alerts.incidents.scenarios import Scenario


@pytest.fixture
def story():
    """Return a scenario in which nothing has happened yet."""
    return Scenario()
