"""Tables of arrived events: batches, the lake's manifest, the position in Kafka, counts for M9.

Written by the pipeline, in the transaction of the batch. Rows that say what failed are pruned, in
the spool by number and in the catalog by age; what was counted of them stays.
"""

from sqlalchemy import BigInteger, Column, Index, Table, Text

from lineage.catalog.tables.columns import flag, instant, key_column, metadata, text_key

batch = Table(
    "batch",
    metadata,
    text_key("query_id"),  # of the checkpoint of releases that had one; since then `spool`
    key_column("batch_id"),
    Column("after_seq", BigInteger, nullable=False),  # spool range (after_seq, last_seq]
    Column("last_seq", BigInteger, nullable=False),
    Column("events", BigInteger, nullable=False),
    Column("duplicates", BigInteger, nullable=False),
    Column("history", BigInteger, nullable=False, default=0),  # of the events, by history loads
    instant("landed_at", nullable=False),
    Index("batch_last_seq", "last_seq"),
)

event = Table(
    "event",
    metadata,
    # The time leads, so that new keys land at the end of the index whatever its size.
    key_column("event_time"),
    key_column("event_key"),
    instant("landed_at", nullable=False),
    Column("last_seq", BigInteger, nullable=False),  # of its batch: counted once, by batch
    flag("is_streaming"),
    flag("is_history"),
    flag("is_skewed"),  # the producer's clock ran over 5 min ahead; event_time is clamped
    # By ranges of pages, as events are stored in the order of batches: it costs a new event next
    # to nothing. `autosummarize`, or each reader would read all pages since the last autovacuum.
    Index(
        "event_last_seq",
        "last_seq",
        postgresql_using="brin",
        postgresql_with={"autosummarize": "on"},
    ),
    sqlite_with_rowid=False,
    postgresql_partition_by="RANGE (event_time)",
)

pipeline_error = Table(
    "pipeline_error",
    metadata,
    key_column("spool_seq"),
    Column("reason", Text, nullable=False),
    Column("detail", Text, nullable=False),
    flag("is_history"),
    instant("landed_at", nullable=False),
)

event_set_aside = Table(
    "event_set_aside",
    metadata,
    key_column("spool_seq"),  # the lake has the body under this number, and the day of received_at
    instant("received_at", nullable=False),
    Column("origin", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("bytes", BigInteger, nullable=False),  # of its body
    Column("error", Text, nullable=False),  # by which it failed, alone
    instant("failed_at", nullable=False),
    Column("producer", Text),  # these as far as the body has them
    Column("job_namespace", Text),
    Column("job_name", Text),
    Column("run_id", Text),
    Index("event_set_aside_failed", "failed_at"),
)

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

log_position = Table(
    "log_position",
    metadata,
    text_key("topic"),
    key_column("partition"),
    Column("next_offset", BigInteger, nullable=False),  # the next batch begins here
    Column("end_offset", BigInteger, nullable=False),  # of the partition, when the batch was read
    # JSON: for each collector its last window, and the records of the window that were read.
    Column("windows", Text, nullable=False),
)

log_collector = Table(
    "log_collector",
    metadata,
    text_key("collector"),
    instant("heartbeat_at", nullable=False),
)

received_cursor = Table(
    "received_cursor",
    metadata,
    text_key("source"),  # spool: the last `seq` counted; rejected: the last id of a rejected body
    Column("position", BigInteger, nullable=False),
)

error_count = Table(
    "error_count",
    metadata,
    text_key("stage"),  # collector | pipeline
    text_key("cause"),
    text_key("origin"),  # live | history: whether they count as events of now
    Column("events", BigInteger, nullable=False),
)
