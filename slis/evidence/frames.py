"""Rows from files of logs, even where only some of the files can be read."""

from typing import Any
from urllib.parse import unquote

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from slis.evidence import lines, parse, schemas
from slis.stream.staging.arrow import records

Frames = dict[str, list[dict[str, Any]]]

_NAMES = ("applications", "executions", "touched", "jobs", "stages", "half_lines")
# Spark's names of what is wrong with a file, and not with Spark or with us.
_OF_FILES = ("PATH_NOT_FOUND", "FAILED_READ_FILE")
_MOST_PROBLEM_CHARACTERS = 200


def frames_of(spark: SparkSession, plain: dict[str, str]) -> tuple[Frames, dict[str, str]]:
    """Return rows of the readable files, and by path why the others cannot be read.

    A file may go, or turn out broken, after it was opened. Spark then gives up all of them, and may
    not say for which: they are read by halves until the file is alone.

    Args:
        spark: a session that can read the files.
        plain: path in the log's folder by path of a plain file; at least one.

    Returns:
        Rows of the frames that `parse` makes, with the path in the log's folder.
    """
    try:
        return _frames(spark, plain), {}
    except PySparkException as error:
        if not (error.getCondition() or "").startswith(_OF_FILES):
            raise
        if len(plain) == 1:
            (path,) = plain.values()
            problem = " ".join(str(error).split())[:_MOST_PROBLEM_CHARACTERS]
            return {name: [] for name in _NAMES}, {path: f"it cannot be read: {problem}"}
    files = list(plain.items())
    half = len(files) // 2
    first, unread = frames_of(spark, dict(files[:half]))
    second, more = frames_of(spark, dict(files[half:]))
    return {name: first[name] + second[name] for name in _NAMES}, unread | more


def _frames(spark: SparkSession, plain: dict[str, str]) -> Frames:
    logged = lines.read_lines(lines.read(spark, list(plain)), schemas.EVENT).persist()
    try:
        frames = {
            "applications": parse.applications(logged),
            "executions": parse.executions(logged),
            "touched": parse.touched_by_plans(logged).union(parse.touched_by_streams(logged)),
            "jobs": parse.jobs(logged),
            "stages": parse.stages(logged),
            "half_lines": parse.half_lines(logged),
        }
        known = {_bare(path): log for path, log in plain.items()}
        return {name: _rows(frame, known) for name, frame in frames.items()}
    finally:
        logged.unpersist()


def _rows(frame: DataFrame, known: dict[str, str]) -> list[dict[str, Any]]:
    rows = records(frame.toArrow())
    return [{**row, "path": known.get(_bare(row["path"])) or known[_plain(row)]} for row in rows]


def _plain(row: dict[str, Any]) -> str:
    """Return the path without escapes: Spark gives a URL, with `%20` for a blank."""
    return _bare(unquote(row["path"]))


def _bare(path: str) -> str:
    """Return one spelling: Hadoop writes one local file as `file:/a` and as `file:///a`."""
    return path.replace("file:///", "file:/")
