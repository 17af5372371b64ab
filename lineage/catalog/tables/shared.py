"""Tables whose rows have one writer each: notes of the catalog, cursors of readers, leases.

`lineage.catalog.meta_keys` names the writer of each note. A cursor is written by the reader that it
names, and a lease by the process that holds or takes it.
"""

from sqlalchemy import BigInteger, Column, Table, Text

from lineage.catalog.tables.columns import instant, metadata, text_key

meta = Table(
    "meta",
    metadata,
    text_key("name"),  # catalog_epoch, installed_at, history_from …
    Column("value", Text, nullable=False),
)

reader_cursor = Table(
    "reader_cursor",
    metadata,
    text_key("reader"),
    Column("seq", BigInteger, nullable=False),
)

lease = Table(
    "lease",
    metadata,
    text_key("name"),  # of the work: service
    Column("holder", Text, nullable=False),  # name of the process that leads, or led last
    Column("epoch", BigInteger, nullable=False),  # grows whenever a process begins to lead
    instant("since", nullable=False),  # the holder leads; by the clock of the database, µs
    instant("expires_at", nullable=False),  # likewise; 0: the holder gave the lease up
)
