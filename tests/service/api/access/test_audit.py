"""Thread that writes the audit log of accesses."""

import pytest

from service.api.access import audit_log
from tests.suite.waiting import until

pytestmark = pytest.mark.postgres_nightly

_QUERY = "/api/v1/lineage?dataset=core/orders"


def test_the_audit_thread_ends_when_idle_and_starts_again(estate, monkeypatch):
    """Keep nothing in memory of a service that was left; lose no row by it."""
    monkeypatch.setattr(audit_log, "_IDLE_SECONDS", 0.05)
    recorder = estate.guard._recorder  # noqa: SLF001
    for number in range(1, 4):
        assert estate.get(_QUERY).status_code == 200
        until(lambda: recorder._thread is None)  # noqa: SLF001
        assert estate.rows("SELECT count(*) FROM access_audit") == [(number,)]
