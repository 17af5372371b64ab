"""Lake on an S3 server: the same steps as on a disk, and the part of executors."""

import os
from datetime import timedelta

import pyarrow as pa
import pytest

from lineage.lake.reading import is_absent
from lineage.lake.settings import read_lake_settings
from lineage.lake.storage import open_lake
from lineage.process.clock import to_micros
from slis.lake import compaction, retention
from slis.lake.identity import ID_FILE
from slis.lake.names import BATCH
from slis.stream.batch import Batches
from slis.stream.log.spool_reader import SPOOL_COLUMNS
from slis.stream.merge.merge import LogRange
from tests.slis.lake.lakes import (
    NOON,
    event_row,
    lay,
    read_seqs,
    visible,
    write,
    writer_of,
)
from tests.slis.lake.s3 import create_bucket, lake_variables, s3_server
from tests.slis.stream.spools import rows as sql
from tests.slis.stream.spools import run_event, table

_HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def endpoint():
    """Return the address of an S3 server in this process."""
    with s3_server() as address:
        yield address


@pytest.fixture
def bucket(endpoint):
    """Make an empty bucket."""
    return create_bucket(endpoint, f"b{os.urandom(4).hex()}")


@pytest.fixture
def lake(endpoint, bucket, tmp_path):
    """Open a lake in the bucket, whose keys are in files."""
    variables = lake_variables(endpoint, f"{bucket.name}/some/prefix", tmp_path)
    return open_lake(tmp_path, read_lake_settings(variables))


def _keys(bucket):
    keys = (one.key.removeprefix("some/prefix/") for one in bucket.objects.all())
    # pyarrow keeps an object for the prefix itself
    return sorted(key for key in keys if key not in {"", ID_FILE})


def test_each_event_is_in_the_bucket_once(embedded, lake, bucket):
    """Land, fail, land again, compact, delete: nothing else is left, and no empty object."""
    writer = writer_of(embedded, lake)
    lay(writer, event_row(1), event_row(2, NOON - timedelta(days=1)))
    failed = write(writer, event_row(3))
    with pytest.raises(OSError, match="odd"), writer.folder(BATCH, 3, 3):
        raise OSError("odd")
    writer._doubtful.append(failed[0].batch)  # noqa: SLF001 - as if that had been its folder
    writer.delete_failed()
    lay(writer, event_row(3))
    old = visible(writer)
    assert read_seqs(writer) == [1, 2, 3]

    assert compaction.compact(writer, to_micros(NOON))
    retention.delete_hidden(writer, NOON + _HOUR)

    assert read_seqs(writer) == [1, 2, 3]
    assert len(_keys(bucket)) == 3  # one file a day, and the rows beside them
    with pytest.raises(OSError) as gone:  # noqa: PT011 - it is looked at
        read_seqs(writer, old)
    assert is_absent(gone.value)


def test_a_restart_on_a_bucket_continues_and_deletes_uncommitted_files(embedded, lake, bucket):
    """Kill a process after it wrote its files."""
    first = writer_of(embedded, lake)
    lay(first, event_row(1))
    write(first, event_row(1))

    second = writer_of(embedded, lake)
    later = NOON.now(NOON.tzinfo) + timedelta(days=2)
    assert (second.started.epoch, retention.delete_unknown(second, later)) == (2, 1)

    assert read_seqs(second) == [1]
    assert len(_keys(bucket)) == 2


def test_executors_write_and_compact_without_the_driver(spark, embedded, lake):
    """Let tasks extract facts and write events; each returns facts and names of files."""
    writer = writer_of(embedded, lake)
    days = [NOON - number % 2 * timedelta(days=1) for number in range(6)]
    events = [
        run_event("COMPLETE", day, run=f"r{at}", outputs=["t"]) for at, day in enumerate(days)
    ]
    given = table([*events, b"{"], NOON)
    other = {**given.slice(0, 1).to_pylist()[0], "kind": "report", "body": b"what is no event"}
    records = pa.concat_tables([given, pa.Table.from_pylist([other], SPOOL_COLUMNS)])
    batches = Batches(writer, lambda: NOON)
    stored, noted = [], []

    frame = spark.createDataFrame(records).repartition(2)
    at = LogRange("spool", 7, 0, 7)
    given = {"note": noted.extend, "store": stored.append}
    landed = batches.land_on_executors(frame, iter, at, **given)

    assert landed.events == 7
    assert noted == [("report", b"what is no event")]
    assert len(stored) == 1
    assert sql(embedded, "SELECT count(*) FROM run") == [(6,)]
    assert sql(embedded, "SELECT count(*) FROM pipeline_error") == [(1,)]
    assert batches.land_on_executors(frame, iter, at, **given).is_repeat
    assert len(stored) == 1
    folders = visible(writer)
    lay(writer, event_row(8))
    run = compaction.choose_rewrite(spark, lake)

    assert sum(folder.events for folder in folders) == 7
    assert {folder.event_date for folder in folders} == {"2026-11-20", "2026-11-21"}
    assert run is not compaction.rewrite
    assert compaction.compact(writer, to_micros(NOON), run)
    assert read_seqs(writer) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert {folder.is_compacted for folder in visible(writer)} == {True}
