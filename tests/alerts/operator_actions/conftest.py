"""Fixtures of the tests of operator actions."""

import pytest
from sqlalchemy import Engine

from tests.alerts.operator_actions.incident_catalog import IncidentCatalog


@pytest.fixture
def incidents(catalog: Engine) -> IncidentCatalog:
    """Return one open incident in a catalog of either kind."""
    return IncidentCatalog(catalog)
