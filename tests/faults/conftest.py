"""What all tests of faults share: they are about processes, and not about how fast plans run."""

import os

import pytest

from tests.suite.classes import INTERPRETED


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipeline that is killed within seconds compiles no plan: a sixth of its CPU."""
    given = " ".join(f"-D{name}={value}" for name, value in INTERPRETED.items())
    options = os.environ.get("JDK_JAVA_OPTIONS", "")
    monkeypatch.setenv("JDK_JAVA_OPTIONS", f"{options} {given}".strip())
