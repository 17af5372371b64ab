"""Fixtures of fault tests: processes without compiled plans, and the servers of scaled mode."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from slis.stream.kafka.client import open_consumer
from tests.faults.pods import start_pods
from tests.service.ingest.kafka.broker import Broker, running_broker
from tests.slis.lake.s3 import S3Server, create_bucket, lake_variables
from tests.suite.classes import interpreter_variables
from tests.suite.postgres_server import PostgresServer, running_postgres

TOPIC = "lineward.log"


@pytest.fixture(autouse=True, scope="module")
def _interpreted_plans() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in interpreter_variables().items():
            patch.setenv(name, value)
        yield


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """Start a broker with the topic, three partitions."""
    with running_broker(tmp_path, TOPIC, partitions=3) as running:
        yield running
        open_consumer.cache_clear()


@pytest.fixture
def s3() -> Iterator[S3Server]:
    """Start an S3 server with a bucket."""
    server = S3Server()
    create_bucket(server.endpoint, "lake")
    yield server
    server.stop()


@pytest.fixture
def postgres() -> Iterator[PostgresServer]:
    """Start a server that may be killed."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def log_url(broker):
    """Return the URL of the topic."""
    return f"kafka://{broker.bootstrap}/{TOPIC}"


@pytest.fixture
def variables(log_url, postgres, s3, tmp_path):
    """Return the settings of the pipeline."""
    (tmp_path / "data").mkdir()
    return lake_variables(s3.endpoint, "lake/lineward", tmp_path) | {
        "LINEWARD_LOG": log_url,
        "LINEWARD_DATA_DIR": str(tmp_path / "data"),
        "LINEWARD_CATALOG_URL": postgres.url,
        "LINEWARD_PIPELINE_EVALUATE_SECONDS": "3600",
        "LINEWARD_PIPELINE_POLL_SECONDS": "1",
    }


@pytest.fixture
def pods(tmp_path, log_url):
    """Start two collectors, each with its shipper."""
    started = start_pods(tmp_path, log_url, 2)
    yield started
    for pod in started:
        pod.stop()
