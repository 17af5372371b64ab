"""What the tests of an incident's life share."""

import pytest

from tests.alerts.incidents.scenarios import Scenario


@pytest.fixture
def story():
    """Nothing has happened yet."""
    return Scenario()
