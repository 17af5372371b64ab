"""Files as datasets of their folders: a reader may name a file of what is a folder.

A file is its folder's dataset while nobody writes the file and the policy does not declare it, and
where some run writes the folder, the policy declares the folder, or the file is called as the
folder (`orders/orders.csv`). A file that a symlink, a rename or the policy joins to another name
stays what that says.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Connection, Row, text

from lineage.names.names import is_named_after
from slis.key_queries import in_parts
from slis.stream.names.rekey import find_known, move_facts

_WRITTEN: Final = "EXISTS (SELECT 1 FROM dataset_producer p WHERE p.dataset_key = {key})"
_FILES: Final = f"""
    SELECT f.dataset_key, f.canonical_key, f.name, d.name AS folder, d.canonical_key AS folder_key,
        CASE WHEN f.is_declared OR {_WRITTEN.format(key="f.dataset_key")} THEN 1 ELSE 0 END
            AS is_own,
        CASE WHEN EXISTS (SELECT 1 FROM dataset m WHERE m.canonical_key = d.canonical_key
            AND (m.is_declared OR {_WRITTEN.format(key="m.dataset_key")})) THEN 1 ELSE 0 END
            AS is_anchored
    FROM dataset f JOIN dataset d ON d.dataset_key = f.folder_key
    WHERE f.{{column}} IN :keys AND NOT EXISTS (
        SELECT 1 FROM dataset_claim c WHERE c.rule <> 'drop'
            AND (c.alias_key = f.dataset_key OR c.dataset_key = f.dataset_key))
    AND NOT EXISTS (
        SELECT 1 FROM dataset_alias a WHERE a.rule = 'policy'
            AND (a.alias_key = f.dataset_key OR a.dataset_key = f.dataset_key))
"""  # noqa: S608 - our own tables
_BELONGS: Final = text("UPDATE dataset SET canonical_key = :own WHERE dataset_key = :key")


def join_files(connection: Connection, changed: Iterable[int]) -> None:
    """Join or part the files among these datasets, and the files in these datasets.

    What is known of a file moves to the folder. A file that is separated starts again: what was
    reported of both cannot be separated.
    """
    own: dict[int, int] = {}
    joined: dict[int, int] = {}
    keys = sorted(changed)
    for column in ("dataset_key", "folder_key"):
        for file in in_parts(connection, _FILES.format(column=column), keys):
            wanted = file.folder_key if _belongs(file) else file.dataset_key
            if wanted != file.canonical_key:
                is_apart = file.canonical_key == file.dataset_key
                (joined if is_apart else own)[file.dataset_key] = wanted
    _join(connection, joined, own)


def _join(connection: Connection, joined: dict[int, int], own: dict[int, int]) -> None:
    # A move takes 40 statements, and counts all that is known of the folder. Most files are new.
    known = find_known(connection, joined)
    named = own | {file: folder for file, folder in joined.items() if file not in known}
    if named:
        connection.execute(_BELONGS, [{"key": file, "own": key} for file, key in named.items()])
    moved: defaultdict[int, set[int]] = defaultdict(set)
    for file in known:
        moved[joined[file]].add(file)
    for folder, files in sorted(moved.items()):
        move_facts(connection, sorted(files), folder)


def _belongs(file: Row[Any]) -> bool:
    return not file.is_own and bool(file.is_anchored or is_named_after(file.name, file.folder))
