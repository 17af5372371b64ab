"""Position in the Kafka log: written by the pipeline, in the transaction of the batch."""

from sqlalchemy import BigInteger, Column, Table, Text

from lineage.catalog.tables.columns import instant, key_column, metadata, text_key

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
