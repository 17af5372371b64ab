"""Files of the lake, on a disk or on S3: one file system of pyarrow, below one root."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

import msgspec

from lineage.lake.settings import LakeSettings, read_keys

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_CONNECT_SECONDS: Final = 5.0
_REQUEST_SECONDS: Final = 30.0
_ATTEMPTS: Final = 3


class Lake(msgspec.Struct, frozen=True):
    """Place of the lake. It can be sent to another process, which opens it there.

    Attributes:
        settings: of this process.
        default: the folder where no URL is set.
    """

    settings: LakeSettings
    default: Path

    @property
    def is_local(self) -> bool:
        """Return whether the files are on a disk of this machine."""
        return self.settings.is_local

    @property
    def folder(self) -> Path:
        """Root folder of a local lake."""
        url = self.settings.url
        if url is None:
            return self.default
        return Path(unquote(urlsplit(url).path)) if url.startswith("file:") else Path(url)

    @property
    def place(self) -> str:
        """Folder or URL, for messages."""
        return str(self.folder) if self.is_local else str(self.settings.url)

    @property
    def filesystem(self) -> "FileSystem":
        """File system of pyarrow whose paths begin at the root of the lake."""
        return _open_local(self.folder) if self.is_local else _open_s3(self.settings)

    def delete(self, path: str) -> None:
        """Delete a folder with all that it holds; no error where it is absent."""
        if self.is_local:
            self._free_disk(path)
        try:
            self.filesystem.delete_dir(path)
        except FileNotFoundError:
            return

    def _free_disk(self, path: str) -> None:
        # A writer that failed may still hold its files open: an empty file frees the disk at once.
        for file in (self.folder / path).rglob("*.parquet"):
            with file.open("r+b") as opened:
                opened.truncate()


def open_lake(data_dir: Path, settings: LakeSettings | None = None) -> Lake:
    """Return the lake of these settings, or the one in the data folder."""
    return Lake(settings or LakeSettings(), data_dir / "lake")


@lru_cache(maxsize=16)
def _open_local(folder: Path) -> "FileSystem":
    # With pandas, which it brings, 90 MiB: a service that reads no lake need not hold them.
    from pyarrow.fs import LocalFileSystem, SubTreeFileSystem  # noqa: PLC0415

    return SubTreeFileSystem(str(folder.absolute()), LocalFileSystem())


@lru_cache(maxsize=4)
def _open_s3(settings: LakeSettings) -> "FileSystem":
    from pyarrow.fs import (  # noqa: PLC0415 - as above
        AwsStandardS3RetryStrategy,
        S3FileSystem,
        SubTreeFileSystem,
    )

    endpoint = urlsplit(settings.endpoint or "")
    access_key, secret_key = read_keys(settings) or (None, None)
    s3 = S3FileSystem(
        access_key=access_key,
        secret_key=secret_key,
        region=settings.region,
        scheme=endpoint.scheme or None,
        endpoint_override=endpoint.netloc or None,
        connect_timeout=_CONNECT_SECONDS,
        request_timeout=_REQUEST_SECONDS,
        retry_strategy=AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
    )
    url = urlsplit(settings.url or "")
    return SubTreeFileSystem(f"{url.netloc}/{url.path.strip('/')}".rstrip("/"), s3)
