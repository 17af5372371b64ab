"""What the tests of the catalog share."""

import pytest
from sqlalchemy import Engine, MetaData

from lineage.catalog.engine import migrate
from lineage.catalog.partitions import partition_names


@pytest.fixture
def first(catalogs) -> Engine:
    """An empty catalog at the first release's revision, of either kind."""
    engine = catalogs()
    everything = MetaData()
    everything.reflect(engine, only=lambda name, _: name not in _partitions(engine))
    everything.drop_all(engine)
    migrate(engine, to="0001")
    return engine


def _partitions(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        return partition_names(connection)
