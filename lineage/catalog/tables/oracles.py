"""Evidence, beside event logs, to check edges of events against: written by the pipeline."""

from sqlalchemy import Column, Index, Table, Text

from lineage.catalog.tables.columns import instant, key_column, metadata, text_key

edge_reported = Table(  # by a run's own facets, and not by its inputs: until these had time to come
    "edge_told",
    metadata,
    text_key("root_run_id"),
    key_column("downstream_key"),  # canonical when it was reported, as the next
    key_column("upstream_key"),
    text_key("oracle"),  # lineage_facet | column_lineage
    Column("upstream_namespace", Text, nullable=False),  # no event may name it otherwise
    Column("upstream_name", Text, nullable=False),
    instant("seen_at", nullable=False),  # when it landed first
    Index("edge_told_seen", "seen_at"),
)

inferred_input = Table(  # of a run that names no inputs, until it names some
    "inferred_input",
    metadata,
    key_column("run_key"),
    key_column("downstream_key"),  # as named after folding, before symlinks, as the next
    key_column("upstream_key"),
    text_key("origin"),  # column_lineage | lineage_facet | sql | foreach_batch
    Column("upstream_namespace", Text, nullable=False),  # no event may name it otherwise
    Column("upstream_name", Text, nullable=False),
    instant("seen_at", nullable=False),  # when it landed first
    Index("inferred_input_seen", "seen_at"),
    sqlite_with_rowid=False,
)

sql_text = Table(
    "sql_text",
    metadata,
    key_column("sql_key"),  # hash of dialect and text
    Column("dialect", Text, nullable=False),  # as sqlglot calls it; empty: not reported
    Column("text", Text),  # null once it was parsed, or where it is too long to be
    Column("names", Text),  # JSON: [{"reads": [name, …], "writes": […]}, …], one a statement
    Column("problem", Text),  # why it could not be parsed: then it says nothing
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
    Index("sql_text_seen", "last_seen_at"),
)

sql_run = Table(  # which runs ran which text: until that was held against their edges
    "sql_run",
    metadata,
    key_column("run_key"),
    key_column("sql_key"),
    instant("seen_at", nullable=False),  # when the last event landed that has it
    Index("sql_run_seen", "seen_at"),
    sqlite_with_rowid=False,
)
