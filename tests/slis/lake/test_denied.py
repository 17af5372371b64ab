"""Lake that allows no deletion: it stops no batch and no event that is set aside."""

from contextlib import suppress
from unittest.mock import Mock

import pyarrow as pa
import pytest

from lineage.lake.storage import Lake
from lineage.policy import DEFAULT
from lineage.process.clock import to_micros
from slis.lake import compaction
from slis.lake.listing import list_names
from slis.lake.names import BATCH
from slis.stream.batch import Batches
from slis.stream.failures.set_aside import set_event_aside
from slis.stream.merge.merge import LogRange
from tests.slis.lake.lakes import NOON, event_row, lay, read_seqs, write, writer_of


class Killed(BaseException):
    """End of a process at a step of a batch, as an exception."""


@pytest.fixture
def writer(embedded, tmp_path, monkeypatch):
    """Return a writer with the folder of a failed batch, in a lake that allows no deletion."""
    found = writer_of(embedded, tmp_path)
    lay(found, event_row(1))
    with suppress(Killed), found.folder(BATCH, 2, 2):
        raise Killed
    denied = OSError("AWS Error ACCESS_DENIED during DeleteObject operation")
    monkeypatch.setattr(Lake, "delete", Mock(side_effect=denied))
    return found


def _events():
    row = {"seq": 2, "received_at": to_micros(NOON), "origin": "http", "kind": "run"}
    return pa.Table.from_pylist([row | {"body": b"{}", "after_seq": 1, "last_seq": 2}])


def test_batch_lands(writer, monkeypatch):
    """Reach the commit of the batch."""
    batches = Batches(writer, lambda: NOON, lambda: DEFAULT)
    monkeypatch.setattr(batches, "_commit", lambda *_: "landed")

    assert batches.land(_events(), LogRange("spool", 2, 1, 2)) == "landed"


def test_event_is_set_aside(writer):
    """Store the event in the lake, and go on behind it in the catalog."""
    set_event_aside(writer, LogRange("spool", 2, 1, 2), _events(), "odd", lambda: NOON)

    assert read_seqs(writer) == [1, 2]


def test_folder_is_deleted_once_that_is_allowed(writer, monkeypatch):
    """Let compaction alone fail meanwhile, which needs the room."""
    failed = write(writer, event_row(2))[0].batch
    writer._doubtful[0] = failed  # noqa: SLF001 - as if that had been its folder
    writer.try_delete_failed()
    with pytest.raises(OSError, match="ACCESS_DENIED"):
        compaction.compact(writer, to_micros(NOON))

    monkeypatch.undo()
    writer.try_delete_failed()

    assert failed not in {name.text for name in list_names(writer.lake)}
