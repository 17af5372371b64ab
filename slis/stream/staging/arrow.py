"""Arrow tables to plain rows for a database driver."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lineage.names.keys import KEY_BYTES, shorten

# As values of Python, rows take ten times the memory of their columns.
_PIECE_BYTES = 4 << 20
# PostgreSQL has no NUL in texts: its replacement is the one of `lineage.names.names`.
_NUL, _SUBSTITUTE = "\x00", "\ufffd"


def micros_table(table: pa.Table) -> pa.Table:
    """Return the table with instants as whole microseconds.

    Flags as 0 and 1, and texts that every database can hold.
    """
    columns = [_plain(column) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    if pa.types.is_boolean(column.type):
        return column.cast(pa.int8())
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.replace_substring(column, _NUL, _SUBSTITUTE)
    return column


def records(table: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield one dict per row; nested values as Arrow gives them (a map is a list of pairs)."""
    given = micros_table(table)
    size = given.nbytes // max(given.num_rows, 1)
    for piece in given.to_batches(max_chunksize=max(1, _PIECE_BYTES // max(size, 1))):
        yield from piece.to_pylist()


def clean_text(text: str | None) -> str | None:
    """Return the text in a form that every database can hold."""
    return text.replace(_NUL, _SUBSTITUTE) if text else text


def key_text(text: str, most_bytes: int = KEY_BYTES) -> str:
    """Return the text as an index of every database can hold it."""
    return shorten(text.replace(_NUL, _SUBSTITUTE), most_bytes)
