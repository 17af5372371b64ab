"""Identity of a topic: whether it is the one of which the catalog has the position.

Offsets cannot show that: a topic that was deleted and created again soon has as many records as
the old one.
"""

from collections.abc import Mapping

from sqlalchemy import Connection

from lineage.catalog.meta_keys import LOG_TOPIC_ID
from slis.meta import put_meta_once, read_meta
from slis.stream.kafka.client import TopicState
from slis.stream.kafka.plan import PartitionPosition
from slis.stream.log.input_log import LogMismatchError

_STEPS = (
    "New events would be skipped. Bring the topic back that belongs to this catalog, or name a new "
    "topic in LINEWARD_LOG: the new topic is read from its beginning."
)


def read_topic_id(connection: Connection, topic: str) -> str:
    """Return the id of the topic whose position the catalog has; empty: not known."""
    return read_meta(connection, LOG_TOPIC_ID + topic) or ""


def note_topic_id(connection: Connection, topic: str, topic_id: str) -> None:
    """Note the id together with the first position of the topic.

    Raises:
        LogMismatchError: another id was noted meanwhile.
    """
    if topic_id and put_meta_once(connection, LOG_TOPIC_ID + topic, topic_id) != topic_id:
        raise LogMismatchError(f"the topic {topic} was created again. {_STEPS}")


def find_other_topic(
    name: str, state: TopicState, known_id: str, known: Mapping[int, PartitionPosition]
) -> str | None:
    """Return how the topic differs from the one that the catalog has read, and what to do."""
    if known_id and state.topic_id and state.topic_id != known_id:
        return (
            f"the catalog has read the topic {name} with the id {known_id}, but the topic now has "
            f"the id {state.topic_id}: the topic was created again, or is another one. {_STEPS}"
        )
    for number, at in known.items():
        _, end = state.offsets.get(number, (0, 0))
        if at.next_offset > end:
            return (
                f"the catalog has read partition {number} of {name} up to offset {at.next_offset}, "
                f"but the partition ends at {end}: the topic was created again, or is another one. "
                f"{_STEPS}"
            )
    return None
