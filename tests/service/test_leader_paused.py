"""A leading service is stopped by SIGSTOP, wakes later, and writes nothing; on PostgreSQL."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from lineage.catalog.tables import lease, meta
from tests.service import leading
from tests.service.commandline import environ
from tests.service.leading import replica
from tests.service.waiting import until

pytestmark = pytest.mark.faults

_LEASE_SECONDS = 1.0


def _writers(catalog):
    """Return who wrote each row, in the order of the rows."""
    with catalog.connect() as connection:
        rows = connection.execute(select(meta.c.name, meta.c.value)).all()
    return [row.value for row in sorted(rows, key=lambda row: int(row.name.split()[1]))]


def _holder(catalog):
    with catalog.connect() as connection:
        return connection.scalar(select(lease.c.holder))


@pytest.mark.parametrize("catalogs", ["postgresql"], indirect=True)
def test_a_paused_leader_that_wakes_writes_nothing(catalog):
    """Until the other one hands over: then it leads again."""
    url = catalog.url.render_as_string(hide_password=False)
    command = [sys.executable, str(Path(leading.__file__)), url, "first", str(_LEASE_SECONDS)]
    first = subprocess.Popen(command, env=environ())
    try:
        until(lambda: "first" in _writers(catalog), seconds=60)
        other = replica(url, "other", _LEASE_SECONDS)
        for keeper in other:
            keeper.start()
        os.kill(first.pid, signal.SIGSTOP)
        until(lambda: "other" in _writers(catalog), seconds=60)
        written = _writers(catalog).count("first")
        os.kill(first.pid, signal.SIGCONT)
        seen = len(_writers(catalog))
        until(lambda: len(_writers(catalog)) > seen + 20, seconds=60)
        assert _writers(catalog).count("first") == written
        assert _holder(catalog) == "other"

        for keeper in reversed(other):
            keeper.stop()
        until(lambda: _writers(catalog).count("first") > written, seconds=60)
    finally:
        os.kill(first.pid, signal.SIGCONT)
        first.terminate()
        first.wait(30)
