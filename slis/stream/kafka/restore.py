"""Restore from the lake of what the catalog lacks and the topic no longer has.

A catalog that was restored from a copy, or is new, may end before the first records of the topic.
The lake has their events, in folders of which each says which records they were.
"""

from functools import partial

import structlog
from sqlalchemy import Connection

from lineage.catalog.meta_keys import LOG_RESTORING
from slis.lake.listing import LakeBatch
from slis.lake.positions import FolderPosition, read_folder_position
from slis.meta import put_meta, read_meta
from slis.stream.kafka.client import TopicState
from slis.stream.kafka.identity import note_topic_id
from slis.stream.kafka.plan import PartitionPosition
from slis.stream.kafka.store import (
    note_landed,
    read_landed,
    read_positions,
    restore_positions,
)
from slis.stream.log.from_lake import LakeReplay

log = structlog.get_logger(__name__)


def lacks_records(positions: dict[int, PartitionPosition], state: TopicState) -> bool:
    """Return whether the topic has deleted records that the catalog has not read."""
    never_read = PartitionPosition(0)
    return any(
        positions.get(number, never_read).next_offset < first
        for number, (first, _) in state.offsets.items()
    )


def is_restoring(connection: Connection, topic: str) -> bool:
    """Return whether a restore from the lake was cut short."""
    return bool(read_meta(connection, LOG_RESTORING + topic))


class TopicReplay:
    """Landing of folders of the lake until the topic has the next record of each partition."""

    def __init__(self, replay: LakeReplay, topic: str, state: TopicState) -> None:
        """Land nothing yet.

        Args:
            replay: lands the folders.
            topic: its name.
            state: of the topic now.
        """
        self._replay, self._topic, self._state = replay, topic, state
        self._read()

    def land(self) -> None:
        """Land them; what the lake has not either is logged by the next batch."""
        while found := self._unfinished() or self._next():
            batch, position = found
            with self._replay.writer.turn() as connection:
                put_meta(connection, {LOG_RESTORING + self._topic: batch.name.text})
            self._replay.take(batch, partial(self._store, position=position))
            self._read()

    def _read(self) -> None:
        with self._replay.writer.engine.connect() as connection:
            self._positions = read_positions(connection, self._topic)
            self._landed = read_landed(connection, self._topic, self._positions)
            self._restoring = read_meta(connection, LOG_RESTORING + self._topic) or ""

    def _unfinished(self) -> tuple[LakeBatch, FolderPosition] | None:
        if not self._restoring:
            return None
        for batch in self._replay.found:
            if batch.name.text == self._restoring and (position := self._position_of(batch)):
                return batch, position
        message = (
            f"the folder {self._restoring} of the lake is absent, and a part of its events was "
            "restored to the catalog: bring the folder back"
        )
        raise FileNotFoundError(message)

    def _next(self) -> tuple[LakeBatch, FolderPosition] | None:
        if not lacks_records(self._positions, self._state):
            return None
        at = self._replay.at
        for batch in self._replay.found:
            first = batch.name.first_seq
            if first <= at + 1 <= batch.name.last_seq:
                position = self._position_of(batch)
                if position is not None and position.follows(first, at, self._landed):
                    return batch, position
        if behind := [one.name.text for one in self._replay.found if one.name.last_seq > at]:
            log.error("events_not_restored", next_seq=at + 1, folders=len(behind), first=behind[0])
        return None

    def _position_of(self, batch: LakeBatch) -> FolderPosition | None:
        found = read_folder_position(self._replay.writer.lake, batch.name.text)
        mine = self._topic, self._state.topic_id
        return found if found and (found.topic, found.topic_id) == mine else None

    def _store(self, connection: Connection, *, position: FolderPosition) -> None:
        note_topic_id(connection, self._topic, self._state.topic_id)
        restore_positions(connection, position, self._positions)
        note_landed(connection, self._topic, {**self._landed, **position.ends})
        put_meta(connection, {LOG_RESTORING + self._topic: ""})
