import pytest

from tests.slis.evidence.logged import Logged


@pytest.fixture
def logged(spark, embedded, tmp_path):
    """Create an empty catalog and an empty folder of event logs."""
    return Logged(spark, embedded, tmp_path)
