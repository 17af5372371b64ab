import pytest
from sqlalchemy import Engine

from tests.service.incidents.impact.pager import Pager


@pytest.fixture
def pager(catalog: Engine) -> Pager:
    """Return a healthy shop, first evaluated at noon, with owners to page, on both catalogs."""
    return Pager(catalog)
