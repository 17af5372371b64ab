"""Fixtures of the catalog's tests."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, MetaData

from lineage.catalog.engine import catalog_url, migrate, open_catalog
from tests.lineage.catalog.partitioned import partition_names

_Catalogs = Callable[[], Engine]


@pytest.fixture(scope="session")
def releases() -> dict[tuple[str, str], Engine]:
    """Return the empty catalogs that tests have migrated to a revision, by kind and revision."""
    return {}


@pytest.fixture
def at_revision(
    catalogs: _Catalogs,  # noqa: ARG001 - its parameter is the kind
    releases: dict[tuple[str, str], Engine],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Iterator[Callable[[str], Engine]]:
    """Return a function that makes an empty catalog at that revision, of either kind.

    A copy of the first one costs a fraction of twenty migrations.
    """
    made: list[Engine] = []
    kind = request.node.callspec.params["catalogs"]

    def make(revision: str) -> Engine:
        if (kind, revision) not in releases:
            releases[kind, revision] = _at(revision, _new(kind, request))
        made.append(_copy(kind, releases[kind, revision], request, tmp_path / "old"))
        return made[-1]

    yield make
    for engine in made:
        if kind == "postgresql":
            request.getfixturevalue("databases").give_back(engine)
        else:
            engine.dispose()


@pytest.fixture
def first(at_revision: Callable[[str], Engine]) -> Engine:
    """Return an empty catalog at the first release's revision, of either kind."""
    return at_revision("0001")


def _new(kind: str, request: pytest.FixtureRequest) -> Engine:
    if kind == "postgresql":
        return request.getfixturevalue("databases").take()
    folder = request.getfixturevalue("tmp_path_factory").mktemp("release")
    return open_catalog(catalog_url(folder))


def _at(revision: str, engine: Engine) -> Engine:
    everything = MetaData()
    everything.reflect(engine, only=lambda name, _: name not in partition_names(engine))
    everything.drop_all(engine)
    migrate(engine, to=revision)
    engine.dispose()
    return engine


def _copy(kind: str, engine: Engine, request: pytest.FixtureRequest, folder: Path) -> Engine:
    if kind == "postgresql":
        return request.getfixturevalue("databases").copy(engine)
    folder.mkdir(exist_ok=True)
    shutil.copy(engine.url.database, folder)
    return open_catalog(catalog_url(folder))
