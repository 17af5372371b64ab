"""What the tests of people's part share."""

import pytest
from sqlalchemy import Engine

from tests.alerts.operator_actions.incident_catalog import Desk


@pytest.fixture
def desk(catalog: Engine) -> Desk:
    """One open incident in a catalog of either kind."""
    return Desk(catalog)
