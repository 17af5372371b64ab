"""Find the folder that a file lies in, by its name."""

import re
from functools import lru_cache
from typing import Final

from lineage.names.names import fold

_CACHED_NAMES: Final = 65_536
_FILE: Final = re.compile(
    r"(?P<folder>[^\x00]*[^/\x00])/+[^/\x00]+"
    r"\.(?:csv|tsv|txt|json|jsonl|ndjson|xml|parquet|orc|avro)"
    r"(?:\.(?:gz|gzip|bz2|zst|zstd|snappy|lz4|deflate|xz|zip))?",
    re.ASCII | re.IGNORECASE,
)


@lru_cache(maxsize=_CACHED_NAMES)
def folder_of(namespace: str, name: str) -> tuple[str, str] | None:
    """Return the dataset that the folder of this file would be; None for another name."""
    found = _FILE.fullmatch(name)
    if found is None:
        return None
    folder = fold(namespace, found["folder"])
    return folder.namespace, folder.name


def is_named_after(file: str, folder: str) -> bool:
    """Return whether a file has the name of its folder, as `orders/orders.csv`."""
    last = folder.rstrip("/").rpartition("/")[2]
    return bool(last) and file.rpartition("/")[2].partition(".")[0] == last
