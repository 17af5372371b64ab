"""Engines that scaled mode needs, and a PagerDuty, on this machine's address for pods."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import trustme

from tests.cluster.networks import ADDRESSES, HOST
from tests.fakes.pagerduty import FakePagerDuty
from tests.service.ingest.kafka.broker import Broker, running_broker
from tests.slis.lake.s3 import S3Server, create_bucket
from tests.suite.ports import free_port
from tests.suite.postgres_server import running_postgres

PASSWORD = "the database's / own@password"  # noqa: S105 - of a server of the tests
TOPIC, BUCKET = "lineward.log", "lineward"
_PARTITIONS = 4


class Engines(NamedTuple):
    """Servers of one installation.

    Attributes:
        broker: has the topic.
        catalog_url: of an empty database, without its password.
        s3: has the bucket.
        pagerduty: takes pages.
    """

    broker: Broker
    catalog_url: str
    s3: S3Server
    pagerduty: FakePagerDuty


@contextmanager
def running_engines(folder: Path) -> Iterator[Engines]:
    """Start them, and stop them in the end."""
    with ExitStack() as stack:
        place = {"partitions": _PARTITIONS, "host": HOST}
        broker = stack.enter_context(running_broker(folder, TOPIC, **place))
        postgres = stack.enter_context(running_postgres())
        url = postgres.listen(HOST, free_port(), ADDRESSES, PASSWORD)
        s3 = S3Server(HOST)
        stack.callback(s3.stop)
        create_bucket(s3.endpoint, BUCKET)
        pagerduty = FakePagerDuty(trustme.CA())
        pagerduty.host = HOST
        pagerduty.listen()
        stack.callback(pagerduty.stop)
        yield Engines(broker, url, s3, pagerduty)
