from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from lineage import lake


def _batch(root: Path, name: str, *seqs: int) -> None:
    folder = root / name / "event_date=2026-11-21"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"seq": list(seqs)}), folder / "part-0.parquet")


def _read(root: Path, committed: int) -> list[int]:
    table = lake.events(lake.folders(root, committed)).to_table(columns=["seq"])
    return sorted(table["seq"].to_pylist())


def test_what_is_not_committed_is_not_there(tmp_path: Path):
    """A batch that was killed before its commit is its successor's to replace."""
    _batch(tmp_path, "batch-01-02", 1, 2)
    _batch(tmp_path, "batch-03-04", 3, 4)

    assert _read(tmp_path, 2) == [1, 2]
    assert _read(tmp_path, 4) == [1, 2, 3, 4]


def test_each_event_is_there_once_while_its_batch_and_the_compacted_one_are(tmp_path: Path):
    """Between the renaming and the sweep both are on the disk; unfinished ones are nobody's."""
    _batch(tmp_path, "batch-01-02", 1, 2)
    _batch(tmp_path, "batch-03-04", 3, 4)
    _batch(tmp_path, "compacted-01-04", 1, 2, 3, 4)
    _batch(tmp_path, "_unfinished-01-04", 1)

    assert _read(tmp_path, 4) == [1, 2, 3, 4]
    assert len(lake.every(tmp_path)) == 3


def test_where_there_is_no_lake_there_is_nothing(tmp_path: Path):
    """Before the first batch."""
    assert lake.folders(tmp_path / "lake", 9) == []
