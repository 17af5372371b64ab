"""Fixtures that the tests of the stream share."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.slis.stream.spools import Lander


@pytest.fixture
def lander(catalog: Engine, tmp_path: Path, at: Callable[..., datetime]) -> Lander:
    """Return a lander of batches at noon."""
    return Lander(catalog, tmp_path, at(12))
