"""Folders of the lake that a catalog may land after its last event."""

import pytest

from slis.lake.positions import (
    FolderBatch,
    FolderPosition,
    join_positions,
    read_folder_position,
    write_folder_position,
)
from tests.slis.lake.lakes import writer_of

TOPIC = {"topic": "t", "topic_id": "a1"}
# Events 11 to 40 in three batches, of the records 5 to 20 of partition 0 and 7 to 9 of partition 1.
COMPACTED = FolderPosition(
    **TOPIC,
    starts={0: 5, 1: 7},
    steps=(FolderBatch(20, {0: 10}), FolderBatch(30, {0: 15, 1: 9}), FolderBatch(40, {0: 20})),
    windows={0: {"c": ("w2", ["a"])}, 1: {}},
)


@pytest.mark.parametrize(
    ("last_seq", "landed", "expected"),
    [
        (10, {0: 5, 1: 7}, True),
        (10, {0: 5}, True),  # nothing of partition 1 was read
        (10, {}, True),  # a new catalog
        (10, {0: 5, 1: 7, 2: 90}, True),
        (20, {0: 10, 1: 7}, True),
        (30, {0: 15, 1: 9}, True),
        (10, {0: 4, 1: 7}, False),  # a record before the folder is in neither
        (10, {0: 6, 1: 7}, False),  # the catalog has a record of the folder
        (20, {0: 15, 1: 9}, False),
        (30, {0: 15, 1: 7}, False),
        (30, {0: 15}, False),
        (9, {0: 5, 1: 7}, False),
        (12, {0: 5, 1: 7}, False),  # these numbers are of other events
        (25, {0: 10, 1: 7}, False),
    ],
    ids=str,
)
def test_a_folder_follows_what_ends_where_it_begins_or_behind_one_of_its_batches(
    last_seq, landed, expected
):
    """Compare numbers and records of each partition."""
    assert COMPACTED.follows(11, last_seq, landed) is expected


def _batch(lake, seq, **given: object):
    name = f"e1-00000000-batch-{seq:020}-{seq + 9:020}-00000000"
    lake.filesystem.create_dir(name)
    if given:
        write_folder_position(lake, name, FolderPosition(**(TOPIC | given)))
    return name


@pytest.fixture
def lake(embedded, tmp_path):
    """Return an empty lake."""
    return writer_of(embedded, tmp_path).lake


def _three(lake):
    windows = {"c": ("w2", ["a"])}
    return [
        _batch(lake, 31, starts={0: 15}, steps=(FolderBatch(40, {0: 20}),), windows={0: windows}),
        _batch(lake, 11, starts={0: 5}, steps=(FolderBatch(20, {0: 10}),), windows={0: {}}),
        _batch(
            lake,
            21,
            starts={0: 10, 1: 7},
            steps=(FolderBatch(30, {0: 15, 1: 9}),),
            windows={0: {"c": ("w1", [])}, 1: {}},
        ),
    ]


def test_a_compacted_folder_has_the_position_of_its_batches(lake):
    """Join them in the order of their events, whatever order they come in."""
    found = _three(lake)
    target = _batch(lake, 90)
    join_positions(lake, found, target)

    assert read_folder_position(lake, target) == COMPACTED


@pytest.mark.parametrize("other", [{}, {"topic_id": "b2"}, {"topic": "u"}], ids=str)
def test_a_compacted_folder_has_none_where_a_batch_has_none_or_that_of_another_topic(lake, other):
    """Land nothing of it then."""
    given = {"starts": {}, "steps": (), "windows": {}} | other if other else {}
    found = [*_three(lake), _batch(lake, 41, **given)]
    target = _batch(lake, 90)
    join_positions(lake, found, target)

    assert read_folder_position(lake, target) is None


def test_a_file_that_is_cut_short_is_no_position(lake):
    """Take it as absent: the process was killed while it wrote."""
    name = _batch(lake, 1)
    with lake.filesystem.open_output_stream(f"{name}/_position.json") as stream:
        stream.write(b'{"topic": "t", ')

    assert read_folder_position(lake, name) is None
