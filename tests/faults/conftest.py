"""Start the processes of these tests without compiled plans: a sixth of a pipeline's CPU."""

import os
from collections.abc import Iterator

import pytest

from tests.suite.classes import INTERPRETED
from tests.suite.examples import is_long


@pytest.fixture(autouse=True, scope="module")
def _interpreted_plans() -> Iterator[None]:
    """Have Spark interpret plans, save in the long form, which compiles them as in production."""
    with pytest.MonkeyPatch.context() as patch:
        if not is_long():
            given = " ".join(f"-D{name}={value}" for name, value in INTERPRETED.items())
            options = os.environ.get("JDK_JAVA_OPTIONS", "")
            patch.setenv("JDK_JAVA_OPTIONS", f"{options} {given}".strip())
        yield
