"""Upgrade of the catalog under load, while roles of the previous release work.

The code of the release before comes from the history of git, which a CI clone may lack: these tests
are of `make faults` and `make nightly`.
"""

import sys
import threading
import time
from datetime import timedelta
from itertools import islice

import httpx
import pytest
from sqlalchemy import text

from lineage.catalog.engine import migrate, open_catalog
from lineage.lake.storage import open_lake
from lineage.process.clock import system_clock
from slis.made_up_events import make_events
from tests.faults.comparing import landed, read_lake
from tests.faults.releases import Roles, extract_release
from tests.service.commandline import ROOT
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

_SHORT = "tests/lineage/catalog/test_partition_upgrade.py::test_a_stored_catalog_keeps_its_rows"
pytestmark = [pytest.mark.faults, pytest.mark.nightly(short=_SHORT)]

_REVISION = "SELECT version_num FROM alembic_version"
_ARE_PARTITIONED = "SELECT relkind = 'p' FROM pg_class WHERE relname = 'run'"
_ROLES = ("collector", "pipeline", "service")
_POSTED = 20  # events of a request
_PAUSE_SECONDS = 0.2
_SOME = 400  # events
_AGO = timedelta(days=1)


class Load(threading.Thread):
    """Sender that posts events all the time, each until it is acknowledged.

    Attributes:
        acked: bodies of the events that were acknowledged.
        unanswered: requests that nobody answered.
        slow: requests that took longer than a second.
    """

    def __init__(self, url: str) -> None:
        """Post nothing yet."""
        super().__init__()
        self.acked: list[bytes] = []
        self.unanswered = self.slow = 0
        self._url = f"{url}/api/v1/lineage/batch"
        self._stopping = threading.Event()

    def run(self) -> None:
        """Post until `finish`."""
        apart = timedelta(milliseconds=10)
        given = make_events(1_000_000, seed=7, start=system_clock() - _AGO, apart=apart)
        bodies = (body for _, body in given)
        while not self._stopping.wait(_PAUSE_SECONDS):
            some = list(islice(bodies, _POSTED))
            while not self._has_posted(some):
                time.sleep(_PAUSE_SECONDS)
            self.acked.extend(some)

    def wait_for(self, more: int) -> None:
        """Wait until so many more events are acknowledged."""
        enough = len(self.acked) + more
        until(lambda: len(self.acked) >= enough)

    def finish(self) -> None:
        """Stop; a post that has begun is finished first."""
        self._stopping.set()
        self.join()

    def _has_posted(self, bodies: list[bytes]) -> bool:
        began = time.monotonic()
        try:
            answer = CLIENT.post(self._url, content=b"[" + b",".join(bodies) + b"]")
        except httpx.TransportError:
            self.unanswered += 1
            return False
        self.slow += time.monotonic() - began > 1
        return answer.status_code == 204


@pytest.fixture
def roles(postgres, tmp_path):
    """Return the roles, of which none runs yet."""
    (tmp_path / "data").mkdir()
    started = Roles(tmp_path, postgres.url)
    yield started
    started.stop()


@pytest.fixture
def load(roles):
    """Return a sender that has not begun."""
    sender = Load(roles.url)
    yield sender
    if sender.is_alive():
        sender.finish()


def _has_landed(engine, events):
    """Return whether the pipeline has made the catalog, and landed so many."""
    with engine.connect() as connection:
        is_there = connection.dialect.has_table(connection, "batch")
    return is_there and landed(engine)[0] >= events


def _value(engine, query):
    with engine.connect() as connection:
        return connection.scalar(text(query))


def _migrate_under_load(roles, load, engine):
    """Migrate while roles of the previous release work; check them meanwhile."""
    assert _value(engine, _REVISION) == "0008"
    began = time.monotonic()
    migrate(engine)
    took, before = time.monotonic() - began, landed(engine)[0]
    sys.stdout.write(f"migrated in {took:.1f} s, after {before} events\n")
    load.wait_for(_SOME)
    # The pipeline continues with statements of the previous release; the service reports why it
    # does not.
    until(lambda: landed(engine)[0] >= before + _SOME, describe=lambda: roles.log("pipeline"))
    answer = roles.ask("/readyz")
    assert (answer.status_code, roles.ask("/livez").status_code) == (503, 200)
    assert "it was upgraded by a newer release" in answer.text
    assert (load.unanswered, roles.has_ended("pipeline")) == (0, False)


def test_an_upgrade_under_load_loses_no_event(roles, load, postgres, tmp_path):
    """Migrate while roles of the previous release work, then replace them by new ones."""
    before, engine = extract_release(tmp_path / "before"), open_catalog(postgres.url)
    for role in _ROLES:
        roles.start(role, before)
    roles.wait_until_ready()
    load.start()
    until(lambda: _has_landed(engine, _SOME), describe=lambda: roles.log("pipeline"))

    _migrate_under_load(roles, load, engine)
    for role in _ROLES:
        assert roles.end(role) == 0
        roles.start(role, ROOT)
    roles.wait_until_ready()
    load.wait_for(_SOME)
    load.finish()
    until(lambda: landed(engine)[0] >= len(load.acked), describe=lambda: roles.log("pipeline"))
    until(lambda: (answer := roles.ask("/readyz")) and answer.is_success)
    # The new pipeline exchanges the tables in its own turn.
    until(lambda: _value(engine, _ARE_PARTITIONED), describe=lambda: roles.log("pipeline"))

    assert landed(engine) == (len(load.acked), 0)
    assert _value(engine, "SELECT count(*) - count(DISTINCT run_key) FROM run") == 0
    assert _value(engine, "SELECT count(*) FROM event") == len(load.acked)
    assert read_lake(engine, open_lake(tmp_path / "data")) == sorted(load.acked)
    unanswered, slow = load.unanswered, load.slow
    line = f"{len(load.acked)} events; requests unanswered {unanswered}, slower than 1 s {slow}"
    sys.stdout.write(f"{line}\n")
    engine.dispose()
