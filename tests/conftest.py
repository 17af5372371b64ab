"""What every test may ask for: one Spark session, a catalog of either kind, the real events."""

import gc
import os
import shutil
import signal
import weakref
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import structlog
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession
from sqlalchemy import Connection, Engine, event, text

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from slis.spark.session import open_session
from tests.suite.classes import INTERPRETED, java_options
from tests.suite.disks import small_disk
from tests.suite.durations import Recorder
from tests.suite.marks import COLLECTED, mark_postgres_nightly
from tests.suite.postgres import Databases
from tests.suite.statements import Statements

ROOT = Path(__file__).resolve().parent.parent
MIDNIGHT = datetime(2026, 11, 21, tzinfo=UTC)
# Tests end before what Java's second compiler makes pays: a fifth of the suite's CPU.
# (Alone, it would have a fifth of the room for compiled code, which half an hour of plans fills.)
_FIRST_COMPILER_ONLY = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
os.environ.setdefault("JDK_JAVA_OPTIONS", f"{_FIRST_COMPILER_ONLY} {java_options()}".strip())
# How long an example takes says how busy the machine is, and nothing of what it shows.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


# A group has one worker. Those with whole installations begin first, and are long. `waits`: kills,
# hung roles and real clocks.
_INSTALLATIONS = ["waits", "e2e"]
_NICE = 5  # that of an installation's pipeline


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the file to which `make test` writes durations."""
    parser.addoption(
        "--durations-to", type=Path, help="write the seconds of each test to this file"
    )
    parser.addoption(
        "--statements-to", type=Path, help="write the SQL of each test on PostgreSQL to this folder"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Record durations in the process that has all reports; let what tests start take Ctrl-C."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a script's `&` leaves it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if folder := config.getoption("--statements-to"):
        config.pluginmanager.register(Statements(folder))
    path = config.getoption("--durations-to")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(path))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give each test its group: what waits, other whole installations, or the tests of its file.

    On PostgreSQL it may be nightly.
    """
    if not item.get_closest_marker("xdist_group"):
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    mark_postgres_nightly(item)


def _group(item: pytest.Item) -> str:
    if item.get_closest_marker("e2e"):
        return "e2e"
    return "waits" if item.get_closest_marker("faults") else item.path.stem


def _uses_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Remember all tests before any is deselected; sort the longest groups first at the end."""
    config.stash[COLLECTED] = list(items)
    yield
    items.sort(key=_place)


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of each later look for garbage; look less often.

    By default, looks took a third of the CPU of tests that make applications.
    """
    gc.freeze()
    gc.set_threshold(20_000, 50, 20)


def _place(item: pytest.Item) -> int:
    """Return the place of its group: the installations, then Spark's, then all others."""
    group = _group_of(item)
    if group in _INSTALLATIONS:
        return _INSTALLATIONS.index(group)
    return len(_INSTALLATIONS) + (not _uses_spark(item))


def _group_of(item: pytest.Item) -> str:
    [group] = next(item.iter_markers("xdist_group")).args
    return str(group)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let whole installations in other workers come first: they have clocks to keep to."""
    is_beside = "PYTEST_XDIST_WORKER" in os.environ and _group_of(item) not in _INSTALLATIONS
    if is_beside and os.nice(0) < _NICE:
        os.nice(_NICE - os.nice(0))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one session of the run: starting Spark costs more than most tests."""
    session = open_session(warehouse=tmp_path_factory.mktemp("warehouse"))
    for name, value in INTERPRETED.items():
        session.conf.set(name, value)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Engine]:
    """A real PostgreSQL, in which each test gets a database of its own."""
    # Only the tests that ask for it pay for it.
    from tests.suite.postgres_server import running_postgres  # noqa: PLC0415

    with running_postgres() as server:
        engine = open_catalog(server.url).execution_options(isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("ALTER SYSTEM SET fsync = off"))  # a power cut is no test here
            connection.execute(text("SELECT pg_reload_conf()"))
        yield engine


@pytest.fixture(scope="session")
def empty_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an empty catalog: to copy it costs a hundredth of migrating each anew."""
    folder = tmp_path_factory.mktemp("empty-catalog")
    engine = open_catalog(catalog_url(folder))
    migrate(engine)
    engine.dispose()  # and with its last connection the WAL goes
    return folder / "catalog.db"


@pytest.fixture(scope="session")
def databases(postgres_server: Engine) -> Databases:
    """Empty catalogs on it."""
    return Databases(postgres_server)


_opened: list[weakref.ref[Engine]] = []


@event.listens_for(Engine, "engine_connect")
def _remember(connection: Connection) -> None:
    """A service that a test leaves to itself keeps its connections."""
    _opened.append(weakref.ref(connection.engine))


@pytest.fixture(autouse=True)
def _put_back() -> Iterator[None]:
    """Close connections that are idle behind a test, and log as before it.

    A worker has room for 1,024 open files: beyond, Spark can call nothing back, and stands still.
    A command that a test runs in its own process sets the log of this process.
    """
    yield
    structlog.reset_defaults()
    for engine in {one for one in (each() for each in _opened) if one is not None}:
        engine.dispose()
    _opened.clear()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def catalogs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Engine]]:
    """Makes empty, migrated catalogs: each test that asks for it runs on both kinds."""
    made: list[Engine] = []

    def make() -> Engine:
        if request.param == "sqlite":
            folder = tmp_path / str(len(made)) if made else tmp_path
            engine = _copied(request.getfixturevalue("empty_catalog"), folder)
        else:
            engine = request.getfixturevalue("databases").take()
        made.append(engine)
        return engine

    yield make
    for engine in made:
        if request.param == "sqlite":
            engine.dispose()
        else:
            request.getfixturevalue("databases").give_back(engine)


@pytest.fixture
def catalog(catalogs: Callable[[], Engine]) -> Engine:
    """One such catalog."""
    return catalogs()


@pytest.fixture
def embedded(tmp_path: Path, empty_catalog: Path) -> Iterator[Engine]:
    """A catalog on SQLite in `tmp_path`: what both kinds answer alike need not be asked twice."""
    engine = _copied(empty_catalog, tmp_path)
    yield engine
    engine.dispose()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 16 MiB, which a test may fill."""
    with small_disk(tmp_path / "disk") as path:
        yield path


@pytest.fixture
def on_disk(disk: Path, empty_catalog: Path) -> Iterator[Engine]:
    """A catalog on SQLite on that disk."""
    engine = _copied(empty_catalog, disk)
    yield engine
    engine.dispose()


def _copied(empty_catalog: Path, folder: Path) -> Engine:
    folder.mkdir(exist_ok=True)
    shutil.copy(empty_catalog, folder)
    return open_catalog(catalog_url(folder))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real events beside the repository; never part of it."""
    folder = Path(os.environ.get("LINEWARD_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"needs the real events in {folder}: set LINEWARD_SHARED to their folder")
    return folder


@pytest.fixture(scope="session")
def at() -> Callable[..., datetime]:
    """`at(hours, minutes, seconds)`: that long after one fixed midnight, UTC."""

    def _at(hours: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
        return MIDNIGHT + timedelta(hours=hours, minutes=minutes, seconds=seconds)

    return _at


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """CI skips nothing: there, what a laptop may lack is a failure."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and CI skips nothing: {report.longrepr}"
