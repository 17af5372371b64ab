"""Wait for a usable catalog: a role reports the reason, and needs no restart."""

from threading import Event

import pytest
from structlog.testing import capture_logs

from lineage.catalog.revision import NewerCatalogError, OlderCatalogError
from lineage.catalog.trouble import DamagedCatalogError
from lineage.process import role
from lineage.process.health import Health
from lineage.process.role import await_catalog


@pytest.fixture
def health(monkeypatch):
    """Return the state that this process reports."""
    health = Health()
    monkeypatch.setattr(role, "HEALTH", health)
    monkeypatch.setattr(role, "_EVERY_SECONDS", 0.0)
    return health


@pytest.mark.parametrize(
    "error",
    [DamagedCatalogError("catalog.db"), NewerCatalogError("0815"), OlderCatalogError("not yet")],
)
def test_a_role_waits_until_the_catalog_can_be_used(health, error):
    reported = []

    def ready():
        reported.append([each.error for each in health.failures()])
        if len(reported) < 3:
            raise error

    with capture_logs() as logs:
        assert await_catalog(ready, Event())

    assert reported == [[], [str(error)], [str(error)]]
    assert health.failures() == []
    assert {line["error"] for line in logs} == {str(error)}


def test_a_role_that_is_stopped_waits_no_longer(health):
    stopped = Event()

    def ready():
        stopped.set()
        raise DamagedCatalogError("catalog.db")

    assert not await_catalog(ready, stopped)
    assert [each.attempts for each in health.failures()] == [1]


def test_any_other_error_ends_the_role(health):
    with pytest.raises(ZeroDivisionError):
        await_catalog(lambda: 1 / 0, Event())
    assert health.failures() == []
