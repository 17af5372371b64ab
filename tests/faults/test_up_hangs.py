"""Check a role of `lineward up` that hangs: it is started again, and shown as failing."""

import os
import signal
from contextlib import suppress

import httpx
import pytest

from lineage.catalog.engine import catalog_url
from lineage.catalog.reader import open_reader
from tests.e2e.running import accepting
from tests.suite.http_client import CLIENT
from tests.suite.waiting import is_running, until

pytestmark = pytest.mark.faults

_ROLES = ("collector", "service", "pipeline")


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    """Start all roles, with a short time until one counts as hanging."""
    with accepting(tmp_path_factory.mktemp("up"), LINEWARD_HANG_SECONDS="10") as up:
        until(lambda: all(up.role(name) for name in _ROLES))
        until(lambda: _answers(up) and _is_evaluated(up))
        yield up


def _answers(up):
    """Return whether the service answers: while it starts, it has five times as long."""
    try:
        url = f"http://127.0.0.1:{up.ports['SERVICE']}/livez"
        return CLIENT.get(url, timeout=30).is_success
    except httpx.TransportError:
        return False


def _is_evaluated(up):
    """Return whether the pipeline works: it has five times as long before its first heartbeat."""
    with open_reader(catalog_url(up.data_dir)) as reader:
        return bool(reader.rows("SELECT count(*) FROM evaluation")[0][0])


@pytest.mark.parametrize("role", _ROLES)
def test_a_role_that_hangs_is_started_again(up, role):
    """Stop a role by SIGSTOP: its process lives, and answers neither a request nor SIGTERM."""
    before = up.role(role)
    os.kill(before, signal.SIGSTOP)
    try:
        until(lambda: up.role(role) not in {before, None}, describe=lambda: up.text("status"))
        until(lambda: not is_running(before))
        shown = next(each for each in up.ask("status")["roles"] if each["role"] == role)
        assert shown["error"].startswith("did not answer for ")
    finally:
        with suppress(ProcessLookupError):
            os.kill(before, signal.SIGCONT)
