"""Start the processes of these tests without compiled plans."""

from collections.abc import Iterator

import pytest

from tests.suite.classes import interpreting


@pytest.fixture(autouse=True, scope="module")
def _interpreted_plans() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in interpreting().items():
            patch.setenv(name, value)
        yield
