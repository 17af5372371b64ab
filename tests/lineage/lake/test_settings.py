"""Settings of the lake, checked when a process starts."""

from pathlib import Path

import pytest

from lineage.lake.settings import read_lake_settings
from lineage.lake.storage import open_lake
from lineage.process.environment import InvalidSettingError


def _read(**given: str):
    return read_lake_settings(
        {f"LINEWARD_LAKE_{name.upper()}": value for name, value in given.items()}
    )


@pytest.mark.parametrize(
    ("given", "folder"),
    [
        ({}, "data/lake"),
        ({"url": "/srv/lake"}, "/srv/lake"),
        ({"url": "file:///srv/my%20lake"}, "/srv/my lake"),
    ],
)
def test_a_lake_without_a_bucket_is_a_folder(given, folder):
    """Keep it in the data folder without settings."""
    lake = open_lake(Path("data"), _read(**given))

    assert (lake.is_local, lake.place) == (True, folder)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"url": "gs://bucket/x"}, "LINEWARD_LAKE_URL: expected s3://BUCKET/PREFIX or a folder"),
        ({"url": "s3:///x"}, "LINEWARD_LAKE_URL: expected a bucket"),
        ({"url": "s3://me:hunter2@bucket"}, "LINEWARD_LAKE_URL: expected no keys"),
        ({"url": "s3://bucket?secret_key=hunter2"}, "LINEWARD_LAKE_URL: expected no keys"),
        ({"url": "file://host/x"}, "LINEWARD_LAKE_URL: expected a folder"),
        ({"url": ""}, "LINEWARD_LAKE_URL: expected a folder"),
        ({"endpoint": "minio:9000"}, "LINEWARD_LAKE_ENDPOINT: expected http://HOST:PORT"),
        ({"endpoint": "http://minio:x"}, "LINEWARD_LAKE_ENDPOINT: "),
        ({"access_key_file": "/a"}, "LINEWARD_LAKE_SECRET_KEY_FILE: expected with"),
        ({"bucket": "b"}, "LINEWARD_LAKE_BUCKET: no such setting"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_named_without_its_secret(given, message):
    """Start no process with it."""
    with pytest.raises(InvalidSettingError) as raised:
        _read(**given)

    assert str(raised.value).startswith(message)
    assert "hunter2" not in str(raised.value)


def test_keys_come_from_files(tmp_path):
    """Name an absent or an empty file."""
    keys = {name: str(tmp_path / name) for name in ("access_key_file", "secret_key_file")}
    with pytest.raises(InvalidSettingError, match="LINEWARD_LAKE_ACCESS_KEY_FILE: cannot read"):
        _read(**keys)
    for path in keys.values():
        Path(path).write_text(" \n")
    with pytest.raises(InvalidSettingError, match=r"LINEWARD_LAKE_ACCESS_KEY_FILE: .* is empty"):
        _read(**keys)
