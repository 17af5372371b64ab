"""Fixtures of the tests of actions on incidents."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from service.incidents import incident_commands
from tests.service.incidents.people.answering import Answering


@pytest.fixture
def answering(embedded: Engine, tmp_path: Path) -> Answering:
    """Return a guarded API over one open incident."""
    return Answering(embedded, tmp_path)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no answer."""
    monkeypatch.setattr(incident_commands, "WAIT_SECONDS", 0.0)
