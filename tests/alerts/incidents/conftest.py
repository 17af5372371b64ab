"""What the tests of an incident's life share."""

import pytest

from tests.alerts.incidents.scenarios import Story


@pytest.fixture
def story():
    """Nothing has happened yet."""
    return Story()
