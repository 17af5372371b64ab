"""Shared fixtures: one Spark session, a catalog of either kind, the real events."""

import gc
import os
import shutil
import signal
import sys
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
from slis.spark.session import spark_session
from tests.suite.classes import INTERPRETED, java_options
from tests.suite.disks import small_disk
from tests.suite.durations import Recorder
from tests.suite.marks import COLLECTED, mark_postgres_nightly
from tests.suite.postgres import Databases
from tests.suite.statements import Statements

ROOT = Path(__file__).resolve().parent.parent
MIDNIGHT = datetime(2026, 11, 21, tzinfo=UTC)
# Tests end before code from Java's second compiler pays: it takes a fifth of the suite's CPU. (With
# one compiler, Java would reserve a fifth of the space for compiled code; half an hour of plans
# fills that.)
_FIRST_COMPILER_ONLY = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
# Java checks the bytecode of each class that no archive has: half a second of CPU in a job of nine.
_UNCHECKED = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
_OPTIONS = f"{_FIRST_COMPILER_ONLY} {_UNCHECKED} {java_options()}".strip()
os.environ.setdefault("JDK_JAVA_OPTIONS", _OPTIONS)
# The time of an example shows the load of the machine, not a fault.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


# A group runs on one worker. Groups with whole installations start first, since they are long.
# `waits`: kills, hung roles and real clocks.
_INSTALLATIONS = ["waits", "e2e"]
_NICE = 5  # niceness of an installation's pipeline
# Tests with Spark share two JVMs, since each one starts and warms up. Divided here, both have as
# much to do.
_SECOND_SPARK = "tests/slis/i"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Accept the files to which `make test` writes durations and statements."""
    parser.addoption(
        "--durations-to", type=Path, help="write the seconds of each test to this file"
    )
    parser.addoption(
        "--statements-to", type=Path, help="write the SQL of each test on PostgreSQL to this folder"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Record durations in the process with all reports; let child processes receive Ctrl-C.

    Collect no garbage while tests are imported: nothing of them is garbage.
    """
    gc.disable()
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a script's `&` leaves it
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if folder := config.getoption("--statements-to"):
        config.pluginmanager.register(Statements(folder))
    path = config.getoption("--durations-to")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(path))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Put each test into a group: `waits`, other whole installations, Spark, or its file.

    Mark a test on PostgreSQL as nightly where its mark says so.
    """
    if not item.get_closest_marker("xdist_group"):
        item.add_marker(pytest.mark.xdist_group(_group(item)))
    mark_postgres_nightly(item)


def _group(item: pytest.Item) -> str:
    if item.get_closest_marker("e2e"):
        return "e2e"
    if item.get_closest_marker("faults"):
        return "waits"
    if _uses_spark(item):
        return "spark-1" if item.nodeid < _SECOND_SPARK else "spark-2"
    return item.path.stem


def _uses_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Store all tests before any is deselected; sort the longest groups first at the end."""
    config.stash[COLLECTED] = list(items)
    yield
    items.sort(key=_place)


def pytest_collection_finish() -> None:
    """Exclude imported and collected objects from garbage collection, and collect less often.

    By default, collections took a third of the CPU of tests that create applications.
    """
    _parse_handlers()
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 50, 20)


def _parse_handlers() -> None:
    """Let Litestar parse the signature of each handler once, instead of in each application."""
    if app := sys.modules.get("service.api.app"):
        for handler in (*app._PAGES, *app._ROUTES):  # noqa: SLF001 - no other module needs them
            assert handler.signature_model


def _place(item: pytest.Item) -> int:
    """Return the position of its group: installations, then groups with Spark, then all others."""
    group = _group_of(item)
    if group in _INSTALLATIONS:
        return _INSTALLATIONS.index(group)
    return len(_INSTALLATIONS) + (not _uses_spark(item))


def _group_of(item: pytest.Item) -> str:
    [group] = next(item.iter_markers("xdist_group")).args
    return str(group)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lower the priority of other tests: installations in other workers have deadlines."""
    is_beside = "PYTEST_XDIST_WORKER" in os.environ and _group_of(item) not in _INSTALLATIONS
    if is_beside and os.nice(0) < _NICE:
        os.nice(_NICE - os.nice(0))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """Start the one session of the run: a start costs more than most tests."""
    session = spark_session(warehouse=tmp_path_factory.mktemp("warehouse"))
    for name, value in INTERPRETED.items():
        session.conf.set(name, value)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Engine]:
    """Start a real PostgreSQL, in which each test gets a database of its own."""
    # The import is slow; only tests that use the fixture wait for it.
    from tests.suite.postgres_server import running_postgres  # noqa: PLC0415

    with running_postgres() as server:
        engine = open_catalog(server.url).execution_options(isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("ALTER SYSTEM SET fsync = off"))  # no test cuts the power
            connection.execute(text("SELECT pg_reload_conf()"))
        yield engine


@pytest.fixture(scope="session")
def empty_catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create the file of an empty catalog: a copy costs a hundredth of a migration."""
    folder = tmp_path_factory.mktemp("empty-catalog")
    engine = open_catalog(catalog_url(folder))
    migrate(engine)
    engine.dispose()  # its last connection deletes the WAL
    return folder / "catalog.db"


@pytest.fixture(scope="session")
def databases(postgres_server: Engine) -> Databases:
    """Return empty catalogs on that server."""
    return Databases(postgres_server)


_opened: list[weakref.ref[Engine]] = []


@event.listens_for(Engine, "engine_connect")
def _remember(connection: Connection) -> None:
    """Store the engine: a service that a test does not stop keeps its connections."""
    _opened.append(weakref.ref(connection.engine))


@pytest.fixture(autouse=True)
def _restore_process() -> Iterator[None]:
    """Close connections that are idle after a test, and restore the log settings.

    A worker may open 1,024 files: beyond that, Spark can call nothing back, and stops. A
    command that a test runs in its own process changes the log of this process.
    """
    yield
    structlog.reset_defaults()
    for engine in {one for one in (each() for each in _opened) if one is not None}:
        engine.dispose()
    _opened.clear()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def catalogs(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Engine]]:
    """Return a function that makes empty, migrated catalogs: the test runs on both kinds."""
    made: list[Engine] = []

    def make() -> Engine:
        if request.param == "sqlite":
            folder = tmp_path / str(len(made)) if made else tmp_path
            engine = _copy_catalog(request.getfixturevalue("empty_catalog"), folder)
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
    """Return one such catalog."""
    return catalogs()


@pytest.fixture
def embedded(tmp_path: Path, empty_catalog: Path) -> Iterator[Engine]:
    """Return a catalog on SQLite in `tmp_path`, for tests with the same result on both kinds."""
    engine = _copy_catalog(empty_catalog, tmp_path)
    yield engine
    engine.dispose()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a disk of 16 MiB, which a test may fill."""
    with small_disk(tmp_path / "disk") as path:
        yield path


@pytest.fixture
def on_disk(disk: Path, empty_catalog: Path) -> Iterator[Engine]:
    """Return a catalog on SQLite on that disk."""
    engine = _copy_catalog(empty_catalog, disk)
    yield engine
    engine.dispose()


def _copy_catalog(empty_catalog: Path, folder: Path) -> Engine:
    folder.mkdir(exist_ok=True)
    shutil.copy(empty_catalog, folder)
    return open_catalog(catalog_url(folder))


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real events beside the repository; never part of it."""
    folder = Path(os.environ.get("LINEWARD_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"needs the real events in {folder}: set LINEWARD_SHARED to their folder")
    return folder


@pytest.fixture(scope="session")
def at() -> Callable[..., datetime]:
    """Return `at(hours, minutes, seconds)`: a time that long after one fixed midnight, UTC."""

    def _at(hours: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
        return MIDNIGHT + timedelta(hours=hours, minutes=minutes, seconds=seconds)

    return _at


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Fail instead of a skip in CI, for tools that a laptop may lack."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped, and CI skips nothing: {report.longrepr}"
