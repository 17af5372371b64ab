"""What producers say of names, and who writes them: written by the pipeline, with the batch.

A claim is only what somebody said. `slis.stream.claims` decides which ones hold.
"""

from sqlalchemy import Column, Index, Table, Text

from lineage.catalog.tables.columns import flag, instant, key_column, metadata, text_key

dataset_claim = Table(
    "dataset_claim",
    metadata,
    key_column("alias_key"),  # the name that is claimed, after folding
    key_column("dataset_key"),  # the dataset that is said to have it; of a drop the name itself
    text_key("rule"),  # symlink, rename or drop
    text_key("job_namespace"),  # of the root job that said so; empty: no run did
    Column("namespace", Text, nullable=False),  # of the name that is claimed
    Column("name", Text, nullable=False),
    instant("first_seen_at", nullable=False),
    instant("last_seen_at", nullable=False),
    instant("landed_at", nullable=False),  # first; no producer can choose it
    instant("last_landed_at", nullable=False),
    flag("is_refused"),  # it has no effect
    Index("claim_dataset", "dataset_key"),
    Index("claim_refused", "is_refused", "last_landed_at"),
)

dataset_producer = Table(
    "dataset_producer",
    metadata,
    key_column("dataset_key"),  # the name that was written, after folding and before symlinks
    text_key("job_namespace"),  # of the root job
    instant("landed_at", nullable=False),
)
