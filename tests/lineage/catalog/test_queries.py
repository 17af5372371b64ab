"""Shared SQL stands in one module, in one spelling; keys are in batches."""

import re
import subprocess
from pathlib import Path

import pytest

from lineage.catalog.queries import MOST_AT_ONCE, split_batches

_ROOT = Path(__file__).parents[3]
_HOME = "lineage/catalog/queries.py"


def sources():
    """Return the modules of the product by name, without migrations, which never change."""
    patterns = ("*.py", ":!tests", ":!lineage/catalog/migrations")
    listed = subprocess.run(
        ["git", "ls-files", "--", *patterns], cwd=_ROOT, check=True, capture_output=True, text=True
    )
    names = [name for name in listed.stdout.splitlines() if (_ROOT / name).is_file()]
    return {name: (_ROOT / name).read_text(encoding="utf-8") for name in names}


@pytest.mark.parametrize(
    "spelling",
    [
        r"canonical_key = (\w\.)?dataset_key\s+AND (\w\.)?retired_at IS NULL",
        r"state IN \('open', 'acknowledged'",
        r"WHEN 'page' THEN 0",
        r"JOIN dataset_state s ON s\.dataset_key = d\.dataset_key AND s\.is_worst",
        r"last_failed_at > coalesce\((a\.)?last_written_at",
        r"coalesce\((\w\.|\{run\}\.)?leaf_job_(name|namespace|\{part\}), ",
        r"(?i)coalesce\(p\.tier, ",
        r"rule IN \('symlink', 'rename', 'policy'\)",
        r"(?i)FROM sli_hour\s+UNION ALL",
        r"\"SELECT seq FROM reader_cursor",
        r"coalesce\(io\.rows, io\.evidence_rows\)",
        r"FROM schema_version \w WHERE [^)]*ORDER BY \w\.last_seen_at DESC",
    ],
)
def test_a_predicate_stands_in_one_module(spelling):
    """Find a second spelling of what `queries.py` has, and that the first is still there."""
    assert [name for name, text in sources().items() if re.search(spelling, text)] == [_HOME]


def test_each_key_is_in_one_batch_in_order():
    """Split an iterator too; the last batch may be short."""
    found = list(split_batches(iter(range(2 * MOST_AT_ONCE + 1))))

    assert [len(piece) for piece in found] == [MOST_AT_ONCE, MOST_AT_ONCE, 1]
    assert [key for piece in found for key in piece] == list(range(2 * MOST_AT_ONCE + 1))


def test_no_keys_make_no_batch():
    """Run no query without keys."""
    assert list(split_batches([])) == []
