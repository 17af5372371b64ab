"""Fixtures that the tests of the stream share."""

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine

sys.path.insert(0, str(Path(__file__).parent))

from spools import Lander


@pytest.fixture
def lander(catalog: Engine, tmp_path: Path, at: Callable[..., datetime]) -> Lander:
    """Lands batches in the catalog at noon."""
    return Lander(catalog, tmp_path, at(12))
