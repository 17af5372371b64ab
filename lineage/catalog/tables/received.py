"""Counts of received and failed events for M9: written by the pipeline.

Rows that say what failed are pruned, in the spool by number and in the catalog by age; what was
counted of them stays.
"""

from sqlalchemy import BigInteger, Column, Table

from lineage.catalog.tables.columns import metadata, text_key

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
    text_key("origin"),  # live | history
    Column("events", BigInteger, nullable=False),
)
