"""Name patterns that grow: written by the pipeline, again with each evaluation."""

from sqlalchemy import BigInteger, Column, Table, Text

from lineage.catalog.tables.columns import flag, metadata, text_key

name_pattern = Table(
    "name_pattern",
    metadata,
    text_key("namespace"),  # both with each part that changes as its word: {date}, {n} …
    text_key("name"),
    Column("new_datasets", BigInteger, nullable=False),  # first seen in the hour before
    Column("example_namespace", Text, nullable=False),
    Column("example_name", Text, nullable=False),
    flag("is_explosion"),
    sqlite_with_rowid=False,
)
