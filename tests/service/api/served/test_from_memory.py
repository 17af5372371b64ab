"""Real service as a process, and the source of its answers."""

import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest
from sqlalchemy import Engine, update

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from tests.service import shop
from tests.service.commandline import environ
from tests.suite.http_client import CLIENT
from tests.suite.ports import free_port
from tests.suite.waiting import until


@pytest.fixture
def address(embedded: Engine, tmp_path) -> Iterator[str]:
    """Start a service over the shop, and return its address."""
    shop.fill(embedded)
    api, metrics = str(free_port()), str(free_port())
    settings = environ(
        LINEWARD_DATA_DIR=str(tmp_path),
        LINEWARD_CATALOG_URL=embedded.url.render_as_string(hide_password=False),
        LINEWARD_SERVICE_PORT=api,
        LINEWARD_METRICS_PORT=metrics,
    )
    process = subprocess.Popen([sys.executable, "-m", "service"], env=settings)
    try:
        until(lambda: _job_names(f"http://127.0.0.1:{api}"))
        yield f"http://127.0.0.1:{api}"
    finally:
        process.kill()
        process.wait()


def _job_names(address: str) -> list[str]:
    """Return the job names of the one edge out of `core/orders`, or nothing before it listens."""
    wanted = {"dataset": shop.CORE, "direction": "downstream"}
    try:
        answer = CLIENT.get(f"{address}/api/v1/lineage", params=wanted, timeout=30)
    except httpx.TransportError:
        return []
    text: list[str] = answer.raise_for_status().json()["downstream"][0]["job_names"]
    return text


def test_a_real_service_has_the_graph_in_memory(address, embedded):
    """Answer from memory with the name from before, although the catalog has a newer one.

    A job's name is read once, with its edges. Until then the catalog answers, with the newest name.
    """
    given = ["etl"]

    def answered_from_memory() -> list[str] | None:
        given.append(f"job-{len(given)}")
        with write_transaction(embedded) as connection:
            connection.execute(update(tables.edge).values(job_name=given[-1]))
        answer = _job_names(address)
        return None if answer == given[-1:] else answer

    (answer,) = until(answered_from_memory)

    assert answer in given[:-1]
