"""A fake Marquez and an embedded catalog for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from tests.fakes.marquez import FakeMarquez


@pytest.fixture
def marquez() -> Iterator[FakeMarquez]:
    """It listens, and holds nothing."""
    fake = FakeMarquez().start()
    yield fake
    fake.stop()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """The catalog beside the spool in `tmp_path`."""
    made = open_catalog(catalog_url(tmp_path))
    migrate(made)
    yield made
    made.dispose()
