"""Fixtures of the catalog's tests."""

import pytest
from sqlalchemy import Engine, MetaData

from lineage.catalog.engine import migrate
from tests.lineage.catalog.partitioned import partition_names


@pytest.fixture
def first(catalogs) -> Engine:
    """Return an empty catalog at the first release's revision, of either kind."""
    engine = catalogs()
    everything = MetaData()
    everything.reflect(engine, only=lambda name, _: name not in partition_names(engine))
    everything.drop_all(engine)
    migrate(engine, to="0001")
    return engine
