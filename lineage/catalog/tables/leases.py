"""Lease of each kind of work that one process at a time may do: written by the leader."""

from sqlalchemy import BigInteger, Column, Table, Text

from lineage.catalog.tables.columns import instant, metadata, text_key

lease = Table(
    "lease",
    metadata,
    text_key("name"),  # of the work: service
    Column("holder", Text, nullable=False),  # name of the process that leads, or led last
    Column("epoch", BigInteger, nullable=False),  # grows whenever a process begins to lead
    instant("since", nullable=False),  # the holder leads; by the clock of the database, µs
    instant("expires_at", nullable=False),  # likewise; 0: the holder gave the lease up
)
