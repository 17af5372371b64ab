"""Changed logs that one pass reads: opened, unpacked, and within its room.

The oldest first: a rolling log names its application in its first file, and without that name the
others say nothing. What does not fit is the next pass's.
"""

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from pyspark.sql import SparkSession

from slis.evidence.logs import LogFile, UnreadableError, try_to_open, unpack

MOST_BYTES = 2 * 1024**3  # a pass reads no more, unless one file alone has more
MOST_UNPACKED_BYTES = 4 * 1024**3  # nor unpacks more to the disk; of one file alone, so much
_TOO_LARGE = "it unpacks to more than {} bytes: what comes after them is left out"


class PassFiles(msgspec.Struct):
    """Files of a pass, and where to read each."""

    files: list[LogFile] = []
    plain: dict[str, str] = {}  # path in the log's folder by path of a plain file
    problems: dict[str, str] = {}  # by path: why no more of it can be read
    unread: dict[str, str] = {}  # by path: why nothing of it can be read
    is_partial: bool = False  # there is more than a pass has room for


@contextmanager
def empty_folder(scratch: Path) -> Iterator[Path]:
    """Create a folder for this pass; delete what a killed pass left in it."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def select_files(spark: SparkSession, changed: Iterable[LogFile], scratch: Path) -> PassFiles:
    """Select files in order, as many as a pass has room for; unpack compressed ones to `scratch`.

    What cannot be opened takes no room from the others.
    """
    taken = PassFiles()
    room, unpacked_room = MOST_BYTES, MOST_UNPACKED_BYTES
    for file in changed:
        if taken.files and file.bytes > room:
            taken.is_partial = True
            break
        try:
            size = _add(spark, taken, file, scratch, unpacked_room)
        except UnreadableError as error:
            taken.unread[file.path] = str(error)
            continue
        if size is None:
            taken.is_partial = True
            break
        room -= file.bytes
        unpacked_room -= size
    return taken


def _add(
    spark: SparkSession, taken: PassFiles, file: LogFile, scratch: Path, room: int
) -> int | None:
    """Return bytes that it unpacks to; None where those of other files leave it no room."""
    if not file.is_compressed:
        try_to_open(spark, file.path)
        taken.files.append(file)
        taken.plain[file.path] = file.path
        return 0
    plain = unpack(spark, file.path, scratch, room)
    if plain.is_cut and room < MOST_UNPACKED_BYTES:
        plain.path.unlink()
        return None
    problem = _TOO_LARGE.format(plain.bytes) if plain.is_cut else plain.problem
    if problem:
        taken.problems[file.path] = problem
    taken.files.append(file)
    taken.plain[f"file:{plain.path}"] = file.path
    return plain.bytes
