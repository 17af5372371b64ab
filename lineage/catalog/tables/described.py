"""What datasets say of their content: written by the pipeline, in the transaction of the batch."""

from sqlalchemy import Table

from lineage.catalog.tables.columns import instant, key_column, metadata, text_key

dataset_checksum = Table(
    "dataset_checksum",
    metadata,
    key_column("dataset_key"),  # canonical
    text_key("checksum"),  # algorithm:value
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
)
