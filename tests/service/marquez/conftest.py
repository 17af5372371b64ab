"""A fake Marquez and an embedded catalog for each test."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from tests.fakes.marquez import FakeMarquez


@pytest.fixture
def marquez() -> Iterator[FakeMarquez]:
    """It listens, and holds nothing."""
    fake = FakeMarquez().start()
    yield fake
    fake.stop()


@pytest.fixture
def engine(embedded: Engine) -> Engine:
    """The catalog beside the spool in `tmp_path`."""
    return embedded
