"""Tables of arrived events: written by the pipeline, in the transaction of the batch."""

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
)

reader_cursor = Table(
    "reader_cursor",
    metadata,
    text_key("reader"),
    Column("seq", BigInteger, nullable=False),
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
    Index("event_last_seq", "last_seq"),
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
