"""What is held against the edges that events tell, beside event logs: written by the pipeline."""

from sqlalchemy import Column, Index, Table, Text

from lineage.catalog.tables.columns import instant, key_column, metadata, text_key

edge_told = Table(  # by a run's own facets, and not by its inputs: until these had time to come
    "edge_told",
    metadata,
    text_key("root_run_id"),
    key_column("downstream_key"),  # canonical when it was told, as the next
    key_column("upstream_key"),
    text_key("oracle"),  # lineage_facet | column_lineage
    Column("upstream_namespace", Text, nullable=False),  # no event may name it otherwise
    Column("upstream_name", Text, nullable=False),
    instant("seen_at", nullable=False),  # when it landed first
    Index("edge_told_seen", "seen_at"),
)
