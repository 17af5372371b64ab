"""Position in a topic, beside the events of a folder of the lake.

A catalog that was restored from a copy lands from the lake what the topic has deleted since. This
file says where to go on in the topic then: each record is taken once.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from lineage.lake.reading import is_absent
from lineage.lake.storage import Lake
from slis.lake.names import parse_name

_FILE: Final = "_position.json"
# For each collector its last window, and the records of the window that were read.
Windows = dict[str, tuple[str, list[str]]]


class FolderBatch(msgspec.Struct, frozen=True):
    """Batch whose events are in a folder.

    Attributes:
        last_seq: number of its last event.
        ends: behind its last record, by partition.
    """

    last_seq: int
    ends: dict[int, int]


class FolderPosition(msgspec.Struct, frozen=True, kw_only=True):
    """Records of a topic whose events are in a folder.

    Attributes:
        topic: its name.
        topic_id: given by Kafka when the topic was created.
        starts: the first record, by partition.
        steps: batches of the folder, in their order.
        windows: of the records before the ends, by partition.
    """

    topic: str
    topic_id: str
    starts: dict[int, int]
    steps: tuple[FolderBatch, ...]
    windows: dict[int, Windows]

    @property
    def ends(self) -> dict[int, int]:
        """Return what follows the last record, by partition."""
        return {part: end for step in self.steps for part, end in step.ends.items()}

    def follows(self, first_seq: int, last_seq: int, landed: Mapping[int, int]) -> bool:
        """Return whether the rest of the folder comes right after what a catalog has landed.

        Args:
            first_seq: number of the first event of the folder.
            last_seq: number of the last event of the catalog.
            landed: where the records of its events end, by partition.
        """
        taken = [step for step in self.steps if step.last_seq <= last_seq]
        if last_seq != (taken[-1].last_seq if taken else first_seq - 1):
            return False
        passed = {part: end for step in taken for part, end in step.ends.items()}
        # A catalog that has read nothing of a partition takes it from wherever the folder begins.
        begun = {part: at for part, at in self.starts.items() if part in landed} | passed
        return all(landed.get(part) == at for part, at in begun.items())


def write_folder_position(lake: Lake, folder: str, position: FolderPosition) -> None:
    """Write the position of a folder whose events are written."""
    with lake.filesystem.open_output_stream(f"{folder}/{_FILE}") as stream:
        stream.write(msgspec.json.encode(position))


def read_folder_position(lake: Lake, folder: str) -> FolderPosition | None:
    """Return the position of a folder; None: the log is a spool, or the release is older."""
    try:
        with lake.filesystem.open_input_stream(f"{folder}/{_FILE}") as stream:
            return msgspec.json.decode(stream.read(), type=FolderPosition)
    except msgspec.DecodeError:
        return None
    except OSError as error:
        if is_absent(error):
            return None
        raise


def join_positions(lake: Lake, folders: Iterable[str], target: str) -> None:
    """Write the position of a folder that was made of these, unless one of them has none."""
    found: list[FolderPosition] = []
    for folder in sorted(set(folders), key=_first_seq):
        position = read_folder_position(lake, folder)
        if position is None or (found and _topic_of(position) != _topic_of(found[0])):
            return
        found.append(position)
    if found:
        write_folder_position(lake, target, _join(found))


def _first_seq(folder: str) -> int:
    name = parse_name(folder)
    return 0 if name is None else name.first_seq


def _topic_of(position: FolderPosition) -> tuple[str, str]:
    return position.topic, position.topic_id


def _join(found: list[FolderPosition]) -> FolderPosition:
    return FolderPosition(
        topic=found[0].topic,
        topic_id=found[0].topic_id,
        starts={part: at for one in reversed(found) for part, at in one.starts.items()},
        steps=tuple(step for one in found for step in one.steps),
        windows={part: windows for one in found for part, windows in one.windows.items()},
    )
