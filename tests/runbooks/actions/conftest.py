"""What the tests of actions share."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from tests.runbooks.actions.acting import World


@pytest.fixture
def world(embedded: Engine, tmp_path: Path) -> World:
    """A catalog on SQLite, and a folder beside it."""
    return World(embedded, tmp_path)
