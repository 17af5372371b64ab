"""Fixtures of the tests of the past: real batches of a small estate."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.slis.stream.spools import Lander


@pytest.fixture
def lander(catalog: Engine, tmp_path: Path, at: Callable[..., datetime]) -> Lander:
    """Return a lander that lands batches in the catalog at noon."""
    return Lander(catalog, tmp_path, at(12))
