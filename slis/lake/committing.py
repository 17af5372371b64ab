"""Rows of the lake's manifest, written inside a transaction of the pipeline."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from sqlalchemy import Connection, select, update

from lineage.catalog.tables import lake_folder
from lineage.lake.manifest import MANIFEST_COLUMNS, Folder, read_folder
from slis.lake.files import File
from slis.lake.names import FolderName

_t = lake_folder.c
_columns = [_t[name.strip()] for name in MANIFEST_COLUMNS.split(",")]


def group_files(files: Iterable[File], name: FolderName) -> list[Folder]:
    """Return the folders of the files of a batch: one for each day."""
    by_folder: dict[tuple[str, str], list[File]] = {}
    for file in files:
        path = file.path.rpartition("/")[0]
        by_folder.setdefault((path, file.event_date), []).append(file)
    return [
        Folder(
            path=path,
            event_date=day,
            first_seq=name.first_seq,
            last_seq=name.last_seq,
            epoch=name.epoch,
            is_compacted=name.is_compacted,
            names=tuple(file.path.rpartition("/")[2] for file in found),
            events=sum(file.events for file in found),
            size=sum(file.size for file in found),
        )
        for (path, day), found in sorted(by_folder.items())
    ]


def add_folders(connection: Connection, folders: Sequence[Folder]) -> None:
    """Have readers see these folders from the commit on."""
    if folders:
        connection.execute(lake_folder.insert(), [_row(folder) for folder in folders])


def _row(folder: Folder) -> Mapping[str, object]:
    row = msgspec.structs.asdict(folder)
    size, names = row.pop("size"), row.pop("names")
    named = {"batch": folder.batch, "files": len(names)}
    return {**row, **named, "bytes": size, "names": msgspec.json.encode(names).decode()}


def hide_folders(connection: Connection, folders: Sequence[Folder], now: int) -> bool:
    """Have readers see these folders no more; False where one of them changed meanwhile."""
    paths = [folder.path for folder in folders]
    found = connection.execute(
        select(*_columns).where(_t.path.in_(paths), _t.deleted_at.is_(None))
    ).all()
    if sorted(map(repr, map(read_folder, found))) != sorted(map(repr, folders)):
        return False
    connection.execute(update(lake_folder).where(_t.path.in_(paths)).values(deleted_at=now))
    return True


def find_overlapping(connection: Connection, first_seq: int, last_seq: int) -> list[Folder]:
    """Return the folders that readers see and that may hold events of this range."""
    is_near = (_t.deleted_at.is_(None), _t.first_seq <= last_seq, _t.last_seq >= first_seq)
    return [read_folder(row) for row in connection.execute(select(*_columns).where(*is_near))]


def find_committed(connection: Connection, batches: Sequence[str]) -> set[str]:
    """Return which of these folders of batches have a row, visible or not."""
    found = select(_t.batch).distinct().where(_t.batch.in_(batches))
    return set(connection.scalars(found))
