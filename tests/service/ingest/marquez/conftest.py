"""Fake Marquez and embedded catalog for each test."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from tests.fakes.marquez import FakeMarquez


@pytest.fixture
def marquez() -> Iterator[FakeMarquez]:
    """Start it, empty and listening."""
    fake = FakeMarquez().start()
    yield fake
    fake.stop()


@pytest.fixture
def engine(embedded: Engine) -> Engine:
    """Open the catalog beside the spool in `tmp_path`."""
    return embedded
