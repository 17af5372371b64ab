"""Identity of the lake and its catalog: an id in a file at the lake's root, and in `meta`.

An empty folder of a volume that is not mounted looks like a lake that lost all files. Without the
id, the pipeline would hide the whole manifest there, and delete the files of the real lake later.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import uuid4

from sqlalchemy import Connection, select

from lineage.catalog.meta_keys import LAKE_ID
from lineage.catalog.tables import lake_folder
from lineage.lake.manifest import Folder
from lineage.lake.reading import is_absent
from lineage.lake.storage import Lake
from slis.lake.names import FolderName
from slis.meta import put_meta_once, read_meta

ID_FILE: Final = "_lake_id"


class LakeMismatchError(Exception):
    """Error for a place whose lake is not the lake of the catalog."""


def read_id(lake: Lake) -> str | None:
    """Return the id in the file at the root of the lake; None where there is no id."""
    try:
        with lake.filesystem.open_input_stream(ID_FILE) as stream:
            return bytes(stream.read()).decode(errors="replace").strip() or None
    except OSError as error:
        if is_absent(error):
            return None
        raise


def check_id(lake: Lake, expected: str) -> None:
    """Return if the file at the root of the lake has this id.

    Raises:
        LakeMismatchError: the file is absent, or has another id.
    """
    found = read_id(lake)
    if found != expected:
        detail = f"has no file {ID_FILE}" if found is None else f"has the id {found[:80]!r}"
        raise _mismatch(lake, f"{detail}, but the catalog expects the id {expected}", expected)


def check_lake(
    connection: Connection, lake: Lake, names: Sequence[FolderName], visible: Sequence[Folder]
) -> None:
    """Return if this is the lake of the catalog, or if the catalog has no lake yet.

    Args:
        connection: of the catalog.
        lake: to compare.
        names: of the folders in the lake.
        visible: rows of the manifest.

    Raises:
        LakeMismatchError: this is another lake, or its volume is not mounted.
    """
    expected = read_meta(connection, LAKE_ID)
    if expected is None:
        _check_first(lake, names, visible)
    elif read_id(lake) is not None or names or _has_rows(connection):
        check_id(lake, expected)


def _check_first(lake: Lake, names: Iterable[FolderName], visible: Iterable[Folder]) -> None:
    """Compare by folders: the catalog may be older than the id."""
    batches = {folder.batch for folder in visible}
    if batches and batches.isdisjoint(name.text for name in names):
        raise _mismatch(lake, f"has none of the {len(batches)} batches that the catalog names")


def _has_rows(connection: Connection) -> bool:
    return connection.execute(select(lake_folder.c.path).limit(1)).first() is not None


def settle_id(connection: Connection, lake: Lake) -> str:
    """Return the id of the lake, which file and catalog have from the commit on.

    Args:
        connection: in a transaction of the pipeline: of two processes the first one decides.
        lake: that belongs to the catalog, by `check_lake`.

    Raises:
        LakeMismatchError: the lake was replaced or unmounted since.
    """
    found, known = read_id(lake), read_meta(connection, LAKE_ID)
    lake_id = put_meta_once(connection, LAKE_ID, found or uuid4().hex)
    if found is None and (known is None or not _has_rows(connection)):
        # Before the commit: the catalog must not expect a file that was never written.
        _write_id(lake, lake_id)
    else:
        check_id(lake, lake_id)
    return lake_id


def _write_id(lake: Lake, lake_id: str) -> None:
    content = f"{lake_id}\n".encode()
    if not lake.is_local:
        with lake.filesystem.open_output_stream(ID_FILE) as stream:
            stream.write(content)
        return
    lake.folder.mkdir(parents=True, exist_ok=True)
    # The catalog survives a power cut, so the file must survive one as well.
    with (lake.folder / ID_FILE).open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    _sync_folder(lake)


def _sync_folder(lake: Lake) -> None:
    descriptor = os.open(lake.folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _mismatch(lake: Lake, detail: str, expected: str | None = None) -> LakeMismatchError:
    message = (
        f"the lake at {lake.place} {detail}: nothing was changed. Mount its volume, or set"
        " LINEWARD_LAKE_URL or LINEWARD_DATA_DIR to the lake of this catalog."
    )
    if expected is not None:
        message += f" If this place is right, write {expected} to the file {ID_FILE} there."
    return LakeMismatchError(message)
