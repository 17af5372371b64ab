"""S3 server in the test's process, and the settings of a lake in a bucket of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

_REGION = "us-east-1"


class S3Server:
    """Server on one port that can be stopped and started; its objects stay in memory.

    Attributes:
        endpoint: its address.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        """Start on a free port of this address."""
        self._host, self._port = host, 0
        self.start()
        self.endpoint = f"http://{host}:{self._port}"

    def start(self) -> None:
        """Answer requests."""
        self._server = ThreadedMotoServer(ip_address=self._host, port=self._port, verbose=False)
        self._server.start()
        _, self._port = self._server.get_host_and_port()

    def stop(self) -> None:
        """Stop listening; objects stay."""
        self._server.stop()


@contextmanager
def s3_server() -> Iterator[str]:
    """Give the address of a server."""
    server = S3Server()
    try:
        yield server.endpoint
    finally:
        server.stop()


def create_bucket(endpoint: str, name: str) -> Any:  # noqa: ANN401 - boto3 has no types
    """Return an empty bucket."""
    keys = {"aws_access_key_id": "k", "aws_secret_access_key": "s", "region_name": _REGION}
    return boto3.resource("s3", endpoint_url=endpoint, **keys).create_bucket(Bucket=name)


def lake_variables(endpoint: str, place: str, folder: Path) -> dict[str, str]:
    """Return the variables of a lake at `place` (BUCKET/PREFIX); its keys are files in `folder`."""
    found = {"LINEWARD_LAKE_URL": f"s3://{place}", "LINEWARD_LAKE_ENDPOINT": endpoint}
    for name in ("ACCESS", "SECRET"):
        (folder / name).write_text("k\n")
        found[f"LINEWARD_LAKE_{name}_KEY_FILE"] = str(folder / name)
    return found | {"LINEWARD_LAKE_REGION": _REGION}
