"""Pass over the event logs: changed logs are read, and matched with the events."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from pyspark.sql import SparkSession
from sqlalchemy import Connection, Engine, select, text

from lineage.catalog import tables
from lineage.catalog.engine import exclusive_transaction
from lineage.catalog.meta_keys import EVIDENCE_JOINED_TO
from lineage.policy import DEFAULT, Policy, folds_of
from lineage.process.clock import SECOND_MICROS, to_micros
from slis.evaluation.observation_start import read_observation_start
from slis.evidence import merge
from slis.evidence.changed_logs import PassFiles, empty_folder, select_files
from slis.evidence.frames import Frames, frames_of
from slis.evidence.join import join_evidence, time_parameters
from slis.evidence.logs import UNREAD, FolderError, LogFile, find_logs
from slis.evidence.merge import note_pass
from slis.evidence.missing import is_settled_by_time
from slis.evidence.rows import EvidenceRows, evidence_rows
from slis.meta import put_meta, read_meta_number
from slis.stream.merge.merge import cursor

_SINCE = timedelta(days=8)  # older logs match no event
_NOWHERE = -1  # what was just found was not joined with any event
_HALF = "{} lines end in the middle: the file was cut, or is being written"
_KNOWN_LOGS = "SELECT log, max(application_id) AS application_id FROM evidence_file GROUP BY log"


class Scanned(msgspec.Struct, frozen=True):
    """Result of a pass."""

    files: int
    bytes: int
    executions: int
    runs_changed: int
    problems: dict[str, str]  # by path, of files and logs that could not be read, or not whole
    unlisted: list[str]  # folders that could not be listed, each with its reason
    is_partial: bool  # more has changed than one pass reads


class _Look(msgspec.Struct):
    """Listing of the folders."""

    changed: list[LogFile] = []  # in the order in which they are to be read
    broken: list[LogFile] = []  # what of the folders could not be listed
    unlisted: list[str] = []


def scan_logs(  # noqa: PLR0913 - the last three by name
    spark: SparkSession,
    engine: Engine,
    folders: Sequence[str],
    now: datetime,
    *,
    settle: timedelta,
    scratch: Path,
    policy: Policy = DEFAULT,
) -> Scanned:
    """Read what was written to the event logs in `folders`, and what it says of the events.

    What cannot be listed or read is noted, and tried again by the next pass. Nothing is compared
    with the events until a pass has read all logs that changed: a log that is read in part has
    runs, and not all of their inputs and outputs.

    Args:
        spark: with the file systems of the folders.
        engine: of the catalog.
        folders: of event logs.
        now: as the pipeline's clock has it.
        settle: how long after an execution its events may still come.
        scratch: a folder of this pass alone, for what it unpacks.
        policy: in force.
    """
    look = _look(spark, engine, folders, now)
    with empty_folder(scratch):
        taken = select_files(spark, look.changed, scratch)
        executions = _read(spark, engine, taken, now, policy)
    unread = {file.path: file.problem or "" for file in look.broken} | taken.unread
    runs = 0 if taken.is_partial else _join(engine, now, settle)
    with exclusive_transaction(engine) as connection:
        unread_files = [file for file in look.changed + look.broken if file.path in unread]
        merge.note_unread(connection, unread_files, unread, to_micros(now))
        is_whole = not unread and not taken.is_partial
        note_pass(connection, to_micros(now), unlisted=len(look.unlisted), is_whole=is_whole)
    return Scanned(
        files=len(taken.files),
        bytes=sum(file.bytes for file in taken.files),
        executions=executions,
        runs_changed=runs,
        problems=taken.problems | unread,
        unlisted=look.unlisted,
        is_partial=taken.is_partial,
    )


def _join(engine: Engine, now: datetime, settle: timedelta) -> int:
    """Match runs that changed. Without changed logs, the catalog is not locked."""
    with engine.connect() as connection:
        since = read_observation_start(connection)
        given = time_parameters(
            now=to_micros(now),
            settle_micros=int(settle.total_seconds() * SECOND_MICROS),
            horizon=0 if since is None else to_micros(since),
        )
        is_joined = read_meta_number(connection, EVIDENCE_JOINED_TO) == cursor(connection)
        if is_joined and not is_settled_by_time(connection, given):
            return 0
    with exclusive_transaction(engine) as connection:
        put_meta(connection, {EVIDENCE_JOINED_TO: cursor(connection)})
        return join_evidence(connection, given)


def _look(spark: SparkSession, engine: Engine, folders: Sequence[str], now: datetime) -> _Look:
    table = tables.evidence_file.c
    with engine.connect() as connection:
        rows = connection.execute(select(table.path, table.bytes))
        known: dict[str, int] = {row.path: row.bytes for row in rows}
    look = _Look()
    for folder in folders:
        try:
            for file in find_logs(spark, folder, since=now - _SINCE):
                if file.problem:
                    look.broken.append(file)
                # Logs only grow: one of as many bytes as before is unchanged.
                elif known.get(file.path) != file.bytes:
                    look.changed.append(file)
        except FolderError as error:
            look.unlisted.append(str(error))
    # What could not be read before is not to keep others from being read.
    look.changed.sort(key=lambda one: (known.get(one.path) == UNREAD, one.modified_at, one.path))
    return look


def _read(
    spark: SparkSession, engine: Engine, taken: PassFiles, now: datetime, policy: Policy
) -> int:
    """Return the executions in the files; unreadable files are moved to `unread`."""
    if not taken.files:
        return 0
    frames, unread = frames_of(spark, taken.plain)
    taken.unread |= unread
    taken.files = [file for file in taken.files if file.path not in unread]
    for row in frames.pop("half_lines"):
        taken.problems.setdefault(row["path"], _HALF.format(row["lines"]))
    # Names are looked up before the lock is taken: among many datasets that takes a while.
    with engine.connect() as connection:
        ids = _application_ids(connection, taken.files, frames)
        found: EvidenceRows = evidence_rows(frames, ids, merge.Names(connection), folds_of(policy))
    for file in taken.files:
        if file.path not in ids:
            taken.problems.setdefault(file.path, "no line of it names the application")
    with exclusive_transaction(engine) as connection:
        merge.merge_rows(connection, found)
        put_meta(connection, {EVIDENCE_JOINED_TO: _NOWHERE})
        merge.note_files(connection, taken.files, ids, taken.problems, to_micros(now))
    return len(found.executions)


def _application_ids(
    connection: Connection, files: Sequence[LogFile], frames: Frames
) -> dict[str, str]:
    """Return the application id by file: a rolling log names it in its first file."""
    known_now = {row["path"]: row["application_id"] for row in frames["applications"]}
    logs = {row.log: row.application_id for row in connection.execute(text(_KNOWN_LOGS))}
    logs |= {file.log: id_ for file in files if (id_ := known_now.get(file.path))}
    return {file.path: id_ for file in files if (id_ := logs.get(file.log))}
