"""PostgreSQL catalog that pg_restore returns to a time before the lake and the topic."""

import subprocess
from datetime import timedelta

import pytest
from confluent_kafka import OFFSET_END, TopicPartition
from confluent_kafka.admin import AdminClient
from sqlalchemy import make_url, text

from lineage.catalog.engine import migrate, open_catalog
from lineage.lake.settings import read_lake_settings
from lineage.process.clock import system_clock, to_micros
from slis.lake.compaction import compact
from slis.lake.writer import LakeWriter
from slis.settings import SharedPaths
from tests.faults.comparing import contents, different, land_topic, landed, read_lake
from tests.faults.conftest import TOPIC
from tests.faults.pods import Sender
from tests.suite.waiting import until

_SHORT = (
    "tests/slis/stream/kafka/test_topic_restored.py::test_a_restored_catalog_gets_each_event_once"
)
pytestmark = [pytest.mark.faults, pytest.mark.nightly(short=_SHORT)]

_EVENTS = 300
_ROWS = 50  # of a batch
_RESTORED = "restored"


class Catalogs:
    """Catalog of a server, and a copy of it that is restored."""

    def __init__(self, postgres, folder) -> None:
        self._postgres, self._dump = postgres, folder / "dump"
        self.engine = open_catalog(postgres.url)
        migrate(self.engine)

    def back_up(self):
        """Copy the catalog as pg_dump does."""
        self._run("pg_dump", "-Fc", "-f", self._dump, f"--dbname={self._url()}")

    def restore(self):
        """Return an engine of the copy, which is another database of the server."""
        self._run("createdb", f"--maintenance-db={self._url()}", _RESTORED)
        self._run("pg_restore", f"--dbname={self._url(_RESTORED)}", self._dump)
        engine = open_catalog(self._url(_RESTORED).replace("postgresql:", "postgresql+psycopg:"))
        with engine.begin() as connection:  # as in docs/operations.md
            connection.execute(text("DELETE FROM meta WHERE name = 'catalog_epoch'"))
        return engine

    def _url(self, database=None):
        url = make_url(self._postgres.url).set(drivername="postgresql")
        url = url if database is None else url.set(database=database)
        return url.render_as_string(hide_password=False)

    def _run(self, tool, *arguments: object):
        argv = [self._postgres.bin_path / tool, *arguments]
        subprocess.run([*map(str, argv)], check=True, capture_output=True)


@pytest.fixture
def catalogs(postgres, tmp_path):
    """Make an empty catalog."""
    made = Catalogs(postgres, tmp_path)
    yield made
    made.engine.dispose()


@pytest.fixture
def place(variables, tmp_path):
    """Return the place where the pipeline works."""
    return SharedPaths(data_dir=tmp_path / "data", lake_settings=read_lake_settings(variables))


@pytest.fixture
def send(pods, variables, place):
    """Return a function that sends events, and lands all of them in a catalog."""
    sender = Sender(pods, seed=7)

    def post(engine):
        sender.post(_EVENTS)

        def all_landed():
            land_topic(engine, variables, place, _ROWS)
            return landed(engine) == (len(sender.acked), 0)

        until(all_landed)

    post.sender = sender
    return post


@pytest.mark.parametrize("has_expired", [False, True], ids=["whole topic", "from the lake"])
def test_a_restored_catalog_has_the_same_facts_again(  # noqa: PLR0913, PLR0917 - fixtures
    catalogs, send, variables, place, broker, has_expired
):
    """Restore a copy, after a compaction that swaps folders of the copy."""
    send(catalogs.engine)
    catalogs.back_up()
    send(catalogs.engine)
    later = to_micros(system_clock() + timedelta(minutes=1))
    assert compact(LakeWriter(catalogs.engine, place.lake, system_clock), later)
    if has_expired:
        expire(broker)
    send(catalogs.engine)
    restored = catalogs.restore()
    assert landed(restored) == (_EVENTS, 0)

    land_topic(restored, variables, place, _ROWS)

    assert landed(restored) == (3 * _EVENTS, 0)
    left_out = {"is_history"} if has_expired else set()  # events of the lake count in no SLI
    found, lost = (contents(engine, but=left_out) for engine in (restored, catalogs.engine))
    assert different(found, lost) == {}
    assert read_lake(restored, place.lake) == sorted(send.sender.acked)
    restored.dispose()


def expire(broker):
    """Let the broker delete all records of the topic, as its retention does."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    ends = [TopicPartition(TOPIC, number, OFFSET_END) for number in range(3)]
    for deleted in admin.delete_records(ends).values():
        assert deleted.result(30).low_watermark > 0
