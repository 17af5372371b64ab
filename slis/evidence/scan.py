"""One pass over the event logs: what changed is read, and brought together with the events."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import DataFrame, SparkSession
from sqlalchemy import Connection, Engine, select, text

from lineage.catalog import tables
from lineage.catalog.engine import writing
from lineage.clock import to_micros
from slis.evidence import lines, merge, parse, schemas
from slis.evidence.join import join
from slis.evidence.logs import LogFile, find, unpack
from slis.evidence.rows import Told, told
from slis.horizon import horizon
from slis.stream.arrow import records

_SINCE = timedelta(days=8)  # older logs tell of what no event will be matched with
_MOST_BYTES = 2 * 1024**3  # a pass reads no more, unless one file alone has more
_HALF = "{} lines end in the middle: the file was cut, or is being written"
_KNOWN_LOGS = "SELECT log, max(application_id) AS application_id FROM evidence_file GROUP BY log"


class Scanned(msgspec.Struct, frozen=True):
    """What a pass came to."""

    files: int
    bytes: int
    executions: int
    runs_changed: int
    problems: dict[str, str]
    is_partial: bool  # more has changed than one pass reads


def scan(
    spark: SparkSession,
    engine: Engine,
    folders: Sequence[str],
    now: datetime,
    *,
    settle: timedelta,
) -> Scanned:
    """Read what was written to the event logs in `folders`, and what it says of the events.

    Raises:
        FolderError: one of the folders cannot be read.
    """
    changed = [file for folder in folders for file in _changed(spark, engine, folder, now)]
    files = _at_most(changed)
    executions, problems = (0, {}) if not files else _read(spark, engine, files, now)
    with writing(engine) as connection:
        since = horizon(connection)
        runs = join(
            connection,
            now=to_micros(now),
            settle_micros=int(settle.total_seconds() * 1e6),
            horizon=0 if since is None else to_micros(since),
        )
    size = sum(file.bytes for file in files)
    return Scanned(len(files), size, executions, runs, problems, len(files) < len(changed))


def _changed(spark: SparkSession, engine: Engine, folder: str, now: datetime) -> Iterable[LogFile]:
    table = tables.evidence_file
    with engine.connect() as connection:
        rows = connection.execute(select(table.c.path, table.c.bytes, table.c.modified_at))
        known = {row.path: (row.bytes, row.modified_at) for row in rows}
    for file in find(spark, folder, since=now - _SINCE):
        if known.get(file.path) != (file.bytes, file.modified_at):
            yield file


def _at_most(files: list[LogFile]) -> list[LogFile]:
    """The oldest that fit into a pass."""
    taken: list[LogFile] = []
    left = _MOST_BYTES
    for file in sorted(files, key=lambda file: (file.modified_at, file.path)):
        left -= file.bytes
        if taken and left < 0:
            break
        taken.append(file)
    return taken


def _read(
    spark: SparkSession, engine: Engine, files: list[LogFile], now: datetime
) -> tuple[int, dict[str, str]]:
    with _plain(spark, files) as (paths, problems):
        frames = _frames(spark, paths)
    for row in frames.pop("half_lines"):
        problems.setdefault(row["path"], _HALF.format(row["lines"]))
    with writing(engine) as connection:
        ids = _application_ids(connection, files, frames["applications"])
        for file in files:
            if file.path not in ids:
                problems.setdefault(file.path, "no line of it names the application")
        found: Told = told(frames, ids, merge.Names(connection))
        merge.merge_told(connection, found)
        merge.note_files(connection, files, ids, problems, to_micros(now))
    return len(found.executions), problems


@contextmanager
def _plain(
    spark: SparkSession, files: list[LogFile]
) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Paths of plain files by those of the logs, and why some are not whole."""
    scratch = Path(tempfile.mkdtemp(prefix="lineward-evidence-"))
    problems: dict[str, str] = {}
    paths: dict[str, str] = {}
    try:
        for file in files:
            if not file.is_compressed:
                paths[file.path] = file.path
                continue
            plain, problem = unpack(spark, file.path, scratch)
            paths[f"file:{plain}"] = file.path
            if problem:
                problems[file.path] = problem
        yield paths, problems
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _frames(spark: SparkSession, paths: dict[str, str]) -> dict[str, list[dict[str, Any]]]:
    logged = lines.logged(lines.read(spark, list(paths)), schemas.EVENT).persist()
    try:
        frames = {
            "applications": parse.applications(logged),
            "executions": parse.executions(logged),
            "touched": parse.touched_by_plans(logged).union(parse.touched_by_streams(logged)),
            "jobs": parse.jobs(logged),
            "half_lines": parse.half_lines(logged),
        }
        return {name: _rows(frame, paths) for name, frame in frames.items()}
    finally:
        logged.unpersist()


def _rows(frame: DataFrame, paths: dict[str, str]) -> list[dict[str, Any]]:
    known = {_bare(path): log for path, log in paths.items()}
    return [{**row, "path": known[_bare(row["path"])]} for row in records(frame.toArrow())]


def _bare(path: str) -> str:
    """Hadoop writes one local file as `file:/a` and as `file:///a`."""
    return path.replace("file:///", "file:/")


def _application_ids(
    connection: Connection, files: list[LogFile], applications: list[dict[str, Any]]
) -> dict[str, str]:
    """Application id by file: a rolling log names it in its first file."""
    told_now = {row["path"]: row["application_id"] for row in applications}
    logs = {
        row.log: row.application_id
        for row in connection.execute(
            text(
                "SELECT log, max(application_id) AS application_id FROM evidence_file GROUP BY log"
            )
        )
    }
    logs |= {file.log: id_ for file in files if (id_ := told_now.get(file.path))}
    return {file.path: id_ for file in files if (id_ := logs.get(file.log))}
