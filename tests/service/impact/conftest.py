import pytest
from sqlalchemy import Engine

from tests.service.impact.estate import Estate


@pytest.fixture
def estate(catalog: Engine) -> Estate:
    """One fault that somebody is paged for: `core/orders`, critical, whose job failed."""
    return Estate(catalog)
