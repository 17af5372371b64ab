"""Fixtures of the tests of access."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.service.api.access.estate import Estate


@pytest.fixture
def estate(catalog: Engine, tmp_path: Path) -> Estate:
    """Return a guarded API over a catalog of either kind."""
    return Estate(catalog, tmp_path)
