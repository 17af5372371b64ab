"""Merge of the logs of a pass into the catalog's tables of evidence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, Table, text

from lineage.catalog import tables
from lineage.catalog.meta_keys import EVIDENCE_LISTED_AT, EVIDENCE_READ_AT, EVIDENCE_UNLISTED
from lineage.catalog.upsert import ColumnFold, both, fold_rows, greatest, newest
from slis.evidence.logs import UNREAD, LogFile
from slis.evidence.plans import TOPIC
from slis.evidence.rows import EvidenceRows
from slis.meta import put_meta
from slis.stream.merge.merge_facts import merge_datasets
from slis.stream.names.canonical import resolve_components
from slis.stream.names.claims_catalog import unsettled_claims
from slis.stream.staging import staging

_TEXTS_OF_NAMES = "spelling_key dataset_key namespace name partition partition_at is_dataset"
_SEEN = "first_seen_at last_seen_at"
_FOLDER = "folder_key"
_FILE_NAMESPACES = "('file', 'dbfs')"
# A JDBC table's database, or a topic's brokers, are hidden: one dataset of that name must be known.
_CANDIDATES = f"""
    SELECT DISTINCT canonical_key FROM dataset
    WHERE (name = :name OR name LIKE :suffix ESCAPE '!') AND namespace NOT IN {_FILE_NAMESPACES}
        AND namespace NOT LIKE 's3%' AND namespace NOT LIKE 'gs:%' AND namespace NOT LIKE 'hdfs:%'
        AND namespace NOT LIKE 'abfs%' AND namespace NOT LIKE 'wasb%'
        AND CASE WHEN namespace LIKE 'kafka:%' THEN 1 ELSE 0 END = :is_topic
    LIMIT 2
"""  # noqa: S608 - words of ours


class Names:
    """Datasets by a name whose namespace Spark hides, each looked up once a pass."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._known: dict[tuple[str, str], int | None] = {}

    def __call__(self, kind: str, name: str) -> int | None:
        """Return the one dataset that it can mean; None where none or several can."""
        if (kind, name) not in self._known:
            self._known[kind, name] = self._find(kind, name)
        return self._known[kind, name]

    def _find(self, kind: str, name: str) -> int | None:
        plain = name.replace("!", "!!").replace("%", "!%").replace("_", "!_")
        # A table's name may lack its schema; of topics, `a.orders` is another than `orders`.
        suffix = plain if kind == TOPIC else f"%.{plain}"
        given = {"name": name, "suffix": suffix, "is_topic": int(kind == TOPIC)}
        found = self._connection.scalars(text(_CANDIDATES), given).all()
        return found[0] if len(found) == 1 else None


def merge_rows(connection: Connection, rows: EvidenceRows) -> None:
    """Merge applications, executions and their inputs and outputs; repeats change nothing."""
    staging.create(connection)
    names = {
        "s_name": (f"{_TEXTS_OF_NAMES} {_SEEN} {_FOLDER}".split(), list(rows.spellings.names())),
        "s_alias": (
            f"alias_key dataset_key rule namespace name {_SEEN}".split(),
            list(rows.spellings.aliases()),
        ),
    }
    staging.fill(connection, names)
    changed = unsettled_claims(connection)
    merge_datasets(connection)
    resolve_components(connection, changed)
    _fold(connection, tables.application, rows.applications)
    unjudged = [{**row, "is_settled": False, "is_checked": False} for row in rows.executions]
    once = {"is_whole": both, "is_settled": both, "is_checked": both}
    _fold(connection, tables.execution, unjudged, once)
    unique = {tuple(row.items()): row for row in rows.io}
    _fold(connection, tables.execution_io, list(unique.values()))
    _fold(connection, tables.evidence_stage, rows.stages)


def _fold(
    connection: Connection,
    table: Table,
    rows: Sequence[dict[str, Any]],
    folds: Mapping[str, ColumnFold] | None = None,
) -> None:
    """Keep each column's greater value: a file has a fact of an execution once, or not at all."""
    if not rows:
        return
    keys = {column.name for column in table.primary_key}
    names = [name for name in rows[0] if name not in keys]
    fold_rows(connection, table, rows, {name: (folds or {}).get(name, greatest) for name in names})


def note_files(
    connection: Connection,
    files: Iterable[LogFile],
    ids: Mapping[str, str],
    problems: Mapping[str, str],
    read_at: int,
) -> None:
    """Store how far each file was read, so that it is read again when there is more."""
    rows = [_noted(file, ids.get(file.path), problems.get(file.path), read_at) for file in files]
    fold_rows(connection, tables.evidence_file, rows)


def note_unread(
    connection: Connection, files: Iterable[LogFile], problems: Mapping[str, str], at: int
) -> None:
    """Store the files and logs that could not be read this time; earlier ones are removed.

    An application's id stays: other files of its log go by it.
    """
    table = tables.evidence_file
    connection.execute(table.delete().where(table.c.bytes == UNREAD))
    rows = [_noted(replace(file, bytes=UNREAD), None, problems[file.path], at) for file in files]
    names = ("bytes", "modified_at", "read_at", "problem")
    fold_rows(connection, table, rows, dict.fromkeys(names, newest))


def _noted(file: LogFile, id_: str | None, problem: str | None, read_at: int) -> dict[str, Any]:
    return {
        "path": file.path,
        "log": file.log,
        "application_id": id_,
        "bytes": file.bytes,
        "modified_at": file.modified_at,
        "read_at": read_at,
        "is_complete": file.is_complete,
        "problem": problem,
    }


def note_pass(connection: Connection, at: int, *, unlisted: int, is_whole: bool) -> None:
    """Note a pass that began at `at` (microseconds).

    Args:
        connection: inside a transaction.
        at: what was written before it, and could be listed, was listed.
        unlisted: folders that could not be listed.
        is_whole: all that was listed was read, too: what no log reports did not happen.
    """
    notes = {EVIDENCE_UNLISTED: unlisted}
    if not unlisted:
        notes[EVIDENCE_LISTED_AT] = at
    if not unlisted and is_whole:
        notes[EVIDENCE_READ_AT] = at
    put_meta(connection, notes)
