"""Settings of the lake: a folder beside the catalog, or a bucket of S3."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

import msgspec

from lineage.process import environment
from lineage.process.environment import InvalidSettingError

SECTION: Final = "LAKE_"
_PREFIX: Final = environment.PREFIX + SECTION


class LakeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`LINEWARD_LAKE_` + field in capitals.

    Attributes:
        url: `s3://BUCKET/PREFIX`, or a folder; None: `lake` in the data folder.
        endpoint: of an S3 server other than AWS, as `https://minio:9000`.
        region: of the bucket.
        access_key_file: holds the access key; None: AWS's own environment, files and roles.
        secret_key_file: holds the secret key.
    """

    url: str | None = None
    endpoint: str | None = None
    region: str | None = None
    access_key_file: Path | None = None
    secret_key_file: Path | None = None

    @property
    def is_local(self) -> bool:
        """Return whether the lake is a folder."""
        return self.url is None or urlsplit(self.url).scheme != "s3"


def read_lake_settings(environ: Mapping[str, str] | None = None) -> LakeSettings:
    """Return the settings of this process.

    Raises:
        InvalidSettingError: an unknown variable, or a value that no lake can be opened by.
    """
    settings = environment.read(LakeSettings, section=SECTION, environ=environ)
    if settings.url is not None:
        _check_url(settings.url)
    if settings.endpoint is not None:
        _check_endpoint(settings.endpoint)
    keys = (settings.access_key_file, settings.secret_key_file)
    if (keys[0] is None) != (keys[1] is None):
        given, missing = ("ACCESS", "SECRET") if keys[0] else ("SECRET", "ACCESS")
        message = f"{_PREFIX}{missing}_KEY_FILE: expected with {_PREFIX}{given}_KEY_FILE"
        raise InvalidSettingError(message)
    read_keys(settings)
    return settings


def read_keys(settings: LakeSettings) -> tuple[str, str] | None:
    """Return the access key and the secret key; None where no files are named.

    Raises:
        InvalidSettingError: a file cannot be read, or is empty.
    """
    if settings.access_key_file is None or settings.secret_key_file is None:
        return None
    access = _read_key("ACCESS", settings.access_key_file)
    return access, _read_key("SECRET", settings.secret_key_file)


def _read_key(name: str, path: Path) -> str:
    try:
        key = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"{_PREFIX}{name}_KEY_FILE: cannot read {path}: {error}"
        raise InvalidSettingError(message) from error
    if not key:
        raise InvalidSettingError(f"{_PREFIX}{name}_KEY_FILE: {path} is empty")
    return key


def _check_url(url: str) -> None:
    parts = _split("URL", url)
    if parts.scheme not in {"", "file", "s3"}:
        message = (
            f"{_PREFIX}URL: expected s3://BUCKET/PREFIX or a folder, got the scheme"
            f" {parts.scheme[:80]!r}"
        )
        raise InvalidSettingError(message)
    # The value may be a password: it is not repeated.
    if parts.scheme == "s3" and ("@" in parts.netloc or parts.query):
        message = (
            f"{_PREFIX}URL: expected no keys or options in the URL: set"
            f" {_PREFIX}ACCESS_KEY_FILE, {_PREFIX}SECRET_KEY_FILE, {_PREFIX}ENDPOINT and"
            f" {_PREFIX}REGION"
        )
        raise InvalidSettingError(message)
    if parts.scheme == "s3" and not parts.netloc:
        raise InvalidSettingError(f"{_PREFIX}URL: expected a bucket, as in s3://BUCKET/PREFIX")
    if not url or (parts.scheme == "file" and (parts.netloc or not parts.path)):
        raise InvalidSettingError(f"{_PREFIX}URL: expected a folder, as in file:///srv/lake")


def _check_endpoint(endpoint: str) -> None:
    parts = _split("ENDPOINT", endpoint)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/"):
        message = (
            f"{_PREFIX}ENDPOINT: expected http://HOST:PORT or https://HOST, got {endpoint[:80]!r}"
        )
        raise InvalidSettingError(message)


def _split(name: str, value: str) -> SplitResult:
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError as error:
        raise InvalidSettingError(f"{_PREFIX}{name}: {error}") from error
    return parts
