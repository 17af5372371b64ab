"""Listener's jars of this installation, which the service serves to Spark's drivers."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec

from service.errors import UnknownFileError
from service.ingest.spark.spark_conf import LISTENER_VERSION, SCALA_OF_SPARK

LISTENER_PATH: Final = "/listener"
# Names without a version stay the same when Lineward is upgraded: jobs name them for years.
_FILES: Final = {
    f"openlineage-spark_{scala}.jar": f"openlineage-spark_{scala}-{LISTENER_VERSION}.jar"
    for scala in sorted(set(SCALA_OF_SPARK.values()))
}
JARS: Final = tuple(_FILES)


class Jar(msgspec.Struct, frozen=True):
    """File with its size in bytes and its SHA-256."""

    path: Path
    size: int
    sha256: str


def jar_name(scala: str) -> str:
    """Return the name under which the jar for a version of Scala is served."""
    return f"openlineage-spark_{scala}.jar"


def find_jar(folder: Path | None, name: str) -> Jar:
    """Return the jar that is served under this name.

    Raises:
        UnknownFileError: no jar has this name, or this installation has none.
    """
    if name not in _FILES:
        raise UnknownFileError(f"no file is called {name[:80]!r}; available: {', '.join(JARS)}")
    if folder is None:
        raise UnknownFileError("this installation has no jar: LINEWARD_LISTENER_DIR is not set")
    path = folder / _FILES[name]
    try:
        known = path.stat()
    except OSError as error:
        raise UnknownFileError(f"{path.name} is not in LINEWARD_LISTENER_DIR") from error
    return Jar(path, known.st_size, _hash(path, known.st_size, known.st_mtime_ns))


@lru_cache(maxsize=len(_FILES))
def _hash(path: Path, _size: int, _changed_at: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
