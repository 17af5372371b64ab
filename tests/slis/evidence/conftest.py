import pytest

from tests.slis.evidence.logged import Logged


@pytest.fixture
def logged(spark, tmp_path):
    """A catalog and a folder of event logs, both empty."""
    made = Logged(spark, tmp_path)
    yield made
    made.catalog.dispose()
