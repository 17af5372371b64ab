"""Listener's jar and its checksum, the only files that the service serves this way."""

import hashlib

import pytest
from litestar.testing import TestClient

from service.api.access.served_counts import OPEN_PATHS
from service.api.app import create_app
from service.ingest.spark.spark_conf import LISTENER_VERSION
from service.runtime.settings import Settings

CONTENT = b"PK\x03\x04" + bytes(600_000)
HASH = hashlib.sha256(CONTENT).hexdigest()
JAR = "/listener/openlineage-spark_2.13.jar"


@pytest.fixture
def client(tmp_path):
    """Return a client without a token, of a service that asks for one."""
    folder = tmp_path / "listener"
    folder.mkdir()
    (folder / f"openlineage-spark_2.13-{LISTENER_VERSION}.jar").write_bytes(CONTENT)
    (folder / "secret.txt").write_text("sesame")
    (tmp_path / "token").write_text("t" * 32)
    policy = tmp_path / "lineward.yaml"
    token = f"{{name: people, token_file: {tmp_path / 'token'}, roles: [read]}}"
    policy.write_text(f"access: {{tokens: [{token}]}}\n...\n")
    settings = Settings(data_dir=tmp_path, policy=policy, listener_dir=folder)
    with TestClient(create_app(settings), base_url="http://127.0.0.1") as found:
        yield found


def test_a_driver_fetches_the_jar_without_a_token(client):
    """Send size, type and the checksum as ETag; send nothing to who has it."""
    answer = client.get(JAR)

    assert (answer.status_code, answer.content) == (200, CONTENT)
    assert answer.headers["content-length"] == str(len(CONTENT))
    assert answer.headers["content-type"] == "application/java-archive"
    assert answer.headers["etag"] == f'"{HASH}"'
    again = client.get(JAR, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(JAR, headers={"If-None-Match": '"other"'}).status_code == 200


def test_the_checksum_is_as_sha256sum_reads_it(client):
    """Name the file as it is fetched."""
    assert client.get(f"{JAR}.sha256").text == f"{HASH}  openlineage-spark_2.13.jar\n"


@pytest.mark.parametrize(
    "path",
    [
        "/listener/secret.txt",
        "/listener/openlineage-spark_2.12.jar",
        f"/listener/openlineage-spark_2.13-{LISTENER_VERSION}.jar",
        "/listener/..%2Ftoken",
        "/listener/../token",
        "/listener/openlineage-spark_2.13.jar/x",
        "/listener/",
    ],
)
def test_no_other_file_is_served(client, path):
    """Answer 404 for files beside the jars, and for jars that this installation lacks."""
    assert client.get(path).status_code == 404


def test_all_else_still_needs_a_token(client):
    """Check that the open path opens no other."""
    assert client.get("/api/v1/datasets").status_code in {401, 503}
    assert OPEN_PATHS.fullmatch(JAR)
    assert not OPEN_PATHS.fullmatch("/listener/../api/v1/datasets")
    assert not OPEN_PATHS.fullmatch("/listener/a/b")


def test_without_a_folder_the_missing_setting_is_named(tmp_path):
    """Name LINEWARD_LISTENER_DIR."""
    with TestClient(create_app(Settings(data_dir=tmp_path)), base_url="http://127.0.0.1") as client:
        answer = client.get(JAR)

    assert answer.status_code == 404
    assert "LINEWARD_LISTENER_DIR is not set" in answer.json()["detail"]
