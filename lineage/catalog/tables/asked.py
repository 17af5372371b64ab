"""Tables of requests by users: written by the service."""

from sqlalchemy import BigInteger, Column, Integer, Table, Text

from lineage.catalog.tables.columns import instant, key_column, metadata

retirement = Table(
    "retirement",
    metadata,
    key_column("dataset_key"),
    instant("requested_at", nullable=False),
    Column("note", Text, nullable=False),
)

event_requeue = Table(
    "event_requeue",
    metadata,
    key_column("spool_seq"),  # of an event that was set aside: the collector has it again
    instant("requested_at", nullable=False),
)

audit = Table(
    "audit",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    instant("at", nullable=False),
    Column("who", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("via", Text),  # api | cli | page | slack | policy; null: it needs none
    Column("answer", Text),  # done, or why not; null: not known yet, or never anything but done
)
