import pytest
from sqlalchemy import Engine

from tests.service.incidents.impact.pager import Pager


@pytest.fixture
def pager(catalog: Engine) -> Pager:
    """A shop that is well, first evaluated at noon, and somebody to page, on both catalogs."""
    return Pager(catalog)
