"""Tables of the lake's manifest and of the pipeline's epoch, written with each batch."""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from lineage.catalog.tables.columns import flag, instant, metadata, text_key

role_epoch = Table(
    "role_epoch",
    metadata,
    text_key("role"),
    Column("epoch", BigInteger, nullable=False),  # of the process that started last
    instant("began_at", nullable=False),
)

# A row is one day of one batch, or of one compaction: a folder with files of Parquet.
lake_folder = Table(
    "lake_folder",
    metadata,
    text_key("path"),  # below the root of the lake; no path is used twice
    Column("batch", Text, nullable=False),  # first part of the path: holds a folder for each day
    Column("event_date", Text, nullable=False),  # YYYY-MM-DD
    Column("first_seq", BigInteger, nullable=False),  # the batch may hold events from here
    Column("last_seq", BigInteger, nullable=False),  # to here
    Column("epoch", BigInteger, nullable=False),  # of the pipeline that wrote it
    flag("is_compacted"),
    Column("names", Text, nullable=False),  # of its files, as JSON
    Column("files", BigInteger, nullable=False),
    Column("events", BigInteger, nullable=False),
    Column("bytes", BigInteger, nullable=False),  # of its files
    instant("deleted_at"),  # no reader lists it from here on; its files are deleted later
    Index("lake_folder_batch", "batch"),
    Index("lake_folder_day", "event_date"),
    Index("lake_folder_deleted", "deleted_at"),
)
