"""Lands from the lake what the catalog lacks and the spool no longer has.

A catalog that was restored from a copy, or is new, ends before the events that the spool still
holds. The lake has the events in between.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

from slis.settings import SharedPaths
from slis.stream.from_lake import LakeReplay
from slis.stream.missing import note_missing
from slis.stream.source import last_seq_of, open_spool


def land_pruned(replay: LakeReplay, place: SharedPaths) -> None:
    """Land what the lake has of the events that the spool has deleted; log what is missing."""
    pruned = pruned_through(place.spool)
    needed = [one for one in replay.found if one.name.first_seq <= max(replay.at, pruned)]
    for batch in needed:
        # Another one may have covered it.
        if batch.name.last_seq > replay.at:
            _note_hole(replay, place, min(batch.name.first_seq - 1, pruned))
            replay.take(batch)
    _note_hole(replay, place, pruned)


def _note_hole(replay: LakeReplay, place: SharedPaths, last_seq: int) -> None:
    if last_seq > replay.at:
        note_missing(replay.writer, place, replay.found, replay.at + 1, last_seq)


def pruned_through(spool: Path) -> int:
    """Return the last `seq` up to which the spool has deleted every event.

    Where the collector did not note it yet, whatever comes before the first event.
    """
    with closing(open_spool(spool)) as connection:
        try:
            noted = connection.execute("SELECT through_seq FROM pruned").fetchone()
        except sqlite3.OperationalError:  # a spool of an older release
            noted = None
        if noted is not None:
            return int(noted[0])
        first = connection.execute("SELECT min(seq) FROM event").fetchone()[0]
        return last_seq_of(connection) if first is None else int(first) - 1
