"""Check `lineward up` on a damaged catalog: it stores events, and waits for a valid catalog."""

import os
import sqlite3
from contextlib import closing

import pytest

from tests.collector.bodies import new_body
from tests.e2e.running import accepting
from tests.suite.http_client import CLIENT
from tests.suite.waiting import until

pytestmark = pytest.mark.faults


def _cut(path):
    """Cut the file, as a copy that was interrupted."""
    with closing(sqlite3.connect(path)) as catalog:
        catalog.execute("CREATE TABLE alembic_version (version_num)")
        catalog.execute("CREATE TABLE filling AS SELECT zeroblob(100000)")
        catalog.commit()
    os.truncate(path, 8_192)


def _overwrite(path):
    """Write random bytes in place of a database."""
    path.write_bytes(os.urandom(65_536))


_SHORT = "tests/faults/test_up_damaged.py::test_roles_wait_for_a_valid_catalog[random bytes]"


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(_overwrite, id="random bytes"),
        pytest.param(_cut, id="cut", marks=pytest.mark.nightly(short=_SHORT)),
    ],
)
def test_roles_wait_for_a_valid_catalog(tmp_path, damage):
    """Move the file away, as docs/operations.md says: no restart is needed."""
    catalog = tmp_path / "data" / "catalog.db"
    catalog.parent.mkdir(mode=0o700)
    damage(catalog)
    with accepting(tmp_path) as up:
        url = f"{up.collector}/api/v1/lineage"
        assert until(lambda: CLIENT.post(url, content=new_body())).is_success
        roles = up.data_dir / "run" / "status.json"
        until(lambda: f"catalog: the catalog {catalog} is damaged: " in roles.read_text())
        pipeline = up.role("pipeline")

        catalog.unlink()

        until(lambda: _landed(catalog), pause=0.5)
        assert up.role("pipeline") == pipeline
        assert "Traceback" not in (up.data_dir / "logs" / "pipeline.log").read_text()


def _landed(path):
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as catalog:
            return catalog.execute("SELECT 1 FROM batch").fetchone()
    except sqlite3.Error:
        return None
