"""Tables of what producers state about datasets: written by the pipeline, with the batch.

Claims about names, tiers and owners, with the writers of names; then checksums, assertions,
descriptions and tags. A claim only states. `slis.stream.names.claims` decides which names hold, the
policy which tiers and owners do.
"""

from sqlalchemy import Column, Index, Table, Text

from lineage.catalog.tables.columns import flag, instant, key_column, metadata, text_key

dataset_claim = Table(
    "dataset_claim",
    metadata,
    key_column("alias_key"),  # the name that is claimed, after folding
    key_column("dataset_key"),  # the dataset that is claimed to have it; of a drop the name itself
    text_key("rule"),  # symlink, rename or drop
    text_key("job_namespace"),  # of the root job that claimed it; empty: no run did
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

attribute_claim = Table(
    "attribute_claim",
    metadata,
    key_column("dataset_key"),  # the name that the facet is of, after folding, before symlinks
    text_key("kind"),  # tier or owner
    text_key("value"),
    text_key("job_namespace"),  # of the root job that claimed it; empty: no run did
    Column("job_name", Text),  # of the root job, one of several; null: no run did
    instant("last_landed_at", nullable=False),
    Index("attribute_claim_landed", "last_landed_at"),
)

dataset_producer = Table(
    "dataset_producer",
    metadata,
    key_column("dataset_key"),  # the name that was written, after folding and before symlinks
    text_key("job_namespace"),  # of the root job
    instant("landed_at", nullable=False),
)

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
