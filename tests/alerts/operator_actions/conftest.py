"""What the tests of people's part share."""

import pytest
from sqlalchemy import Engine

from tests.alerts.operator_actions.incident_catalog import IncidentCatalog


@pytest.fixture
def desk(catalog: Engine) -> IncidentCatalog:
    """One open incident in a catalog of either kind."""
    return IncidentCatalog(catalog)
