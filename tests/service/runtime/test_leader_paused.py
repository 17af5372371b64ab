"""Leader that SIGSTOP pauses: it writes nothing when it continues later, on PostgreSQL."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import select

from lineage.catalog.tables import meta
from tests.service import leading
from tests.service.commandline import environ
from tests.service.leading import replica, running
from tests.suite.waiting import until

pytestmark = pytest.mark.faults

_LEASE_SECONDS = 1.0
_PATIENCE = 120


def _write_counts(catalog):
    """Return how many rows each service wrote in each epoch, as `NAME EPOCH`."""
    with catalog.connect() as connection:
        return Counter(connection.scalars(select(meta.c.value)))


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_paused_leader_that_wakes_writes_nothing(catalog):
    """Write nothing until the other one hands over, and then in another epoch."""
    url = catalog.url.render_as_string(hide_password=False)
    command = [sys.executable, str(Path(leading.__file__)), url, "first", str(_LEASE_SECONDS)]
    first = subprocess.Popen(command, env=environ())
    try:
        until(lambda: _write_counts(catalog)["first 1"], seconds=_PATIENCE)
        with running(replica(url, "other", _LEASE_SECONDS)):
            os.kill(first.pid, signal.SIGSTOP)
            until(lambda: _write_counts(catalog)["other 2"], seconds=_PATIENCE)
            written = _write_counts(catalog)["first 1"]
            os.kill(first.pid, signal.SIGCONT)
            seen = _write_counts(catalog).total()
            until(lambda: _write_counts(catalog).total() > seen + 20, seconds=_PATIENCE)
        until(lambda: _write_counts(catalog)["first 3"], seconds=_PATIENCE)
        first.terminate()
        assert first.wait(_PATIENCE) == 0
    finally:
        first.kill()
        first.wait()

    assert _write_counts(catalog)["first 1"] == written
