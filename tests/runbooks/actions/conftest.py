"""Fixtures that the tests of actions share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from sqlalchemy import Engine

from runbooks.actions.kubernetes import Kubernetes
from runbooks.actions.kubernetes_settings import KubernetesSettings
from tests.fakes.kubernetes import FakeKubernetes
from tests.runbooks.actions.acting import World


@pytest.fixture
def world(embedded: Engine, tmp_path: Path) -> World:
    """Create a catalog on SQLite, and a folder beside it."""
    return World(embedded, tmp_path)


@pytest.fixture
def cluster(world: World, tmp_path: Path) -> Iterator[FakeKubernetes]:
    """Start an API server that the world is configured for, by files of token and authority."""
    fake = FakeKubernetes(trustme.CA())
    fake.listen()
    (tmp_path / "token").write_text(f"{fake.token}\n")
    settings = KubernetesSettings(
        url=fake.url,
        token_file=tmp_path / "token",
        ca_file=fake.write_authority(tmp_path / "ca.pem"),
        timeout_seconds=5,
    )
    world.kubernetes = Kubernetes(settings)
    yield fake
    fake.stop()
