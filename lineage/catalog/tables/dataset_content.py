"""Tables of descriptions and tags: written by the pipeline, in the transaction of the batch."""

from sqlalchemy import Column, Index, Table, Text

from lineage.catalog.tables.columns import instant, key_column, metadata, text_key

dataset_checksum = Table(
    "dataset_checksum",
    metadata,
    key_column("dataset_key"),  # canonical
    text_key("checksum"),  # algorithm:value
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
)

dataset_assertion = Table(
    "dataset_assertion",
    metadata,
    key_column("dataset_key"),  # canonical
    text_key("assertion"),  # its kind, as not_null
    text_key("column_name"),  # empty: of the whole dataset, here and below: unknown
    text_key("name"),
    instant("last_passed_at"),
    instant("last_failed_at"),  # it fails as long as this is not before the other
    Column("severity", Text),  # of the last failure, as the next two
    Column("expected", Text),
    Column("actual", Text),
    Index("dataset_assertion_failed", "last_failed_at"),
)

description = Table(
    "description",
    metadata,
    # dataset | job: plain text; fields: JSON {column: text} of a dataset; job_tags: JSON
    # [{"key": …, "value": …, "source": …}]
    text_key("subject"),
    key_column("subject_key"),  # of the dataset (canonical), or of the job (namespace, name)
    Column("text", Text, nullable=False),
    instant("last_seen_at", nullable=False),  # event that says so: the newest one wins
)

field_tag = Table(
    "field_tag",
    metadata,
    key_column("dataset_key"),  # canonical
    key_column("tag_key"),  # of (field, tag, value): these are too long for an index together
    Column("field", Text, nullable=False),
    Column("tag", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("source", Text),
    instant("last_seen_at", nullable=False),
)
