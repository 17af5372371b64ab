import pytest

from tests.slis.evidence.logged import Logged


@pytest.fixture
def logged(spark, embedded, tmp_path):
    """A catalog and a folder of event logs, both empty."""
    return Logged(spark, embedded, tmp_path)
