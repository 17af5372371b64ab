"""Add what keeps Lineward up: changes of the catalog after 0001, which stays as it is."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# Links of the release before hold until their datasets are told of again: each is taken as said
# by whoever writes the dataset.
_PRODUCERS = """
    INSERT INTO dataset_producer (dataset_key, job_namespace, landed_at)
    SELECT io.dataset_key, substr(r.root_job_namespace, 1, 200), min(io.landed_at)
    FROM run_io io JOIN run r ON r.run_key = io.run_key
    WHERE io.direction = 'write' AND coalesce(io.lifecycle, '') NOT IN ('DROP', 'RENAME')
    GROUP BY io.dataset_key, substr(r.root_job_namespace, 1, 200)
"""
_CLAIMS = """
    INSERT INTO dataset_claim (alias_key, dataset_key, rule, job_namespace, namespace, name,
        first_seen_at, last_seen_at, landed_at, last_landed_at, is_refused)
    SELECT a.alias_key, a.dataset_key, a.rule, coalesce(p.job_namespace, ''), a.namespace, a.name,
        a.first_seen_at, a.last_seen_at, a.first_seen_at, a.last_seen_at, 1 = 0
    FROM dataset_alias a LEFT JOIN dataset_producer p ON p.dataset_key = a.dataset_key
    WHERE a.rule IN ('symlink', 'rename')
"""
_IS_LINK = "rule IN ('symlink', 'rename', 'policy')"


def upgrade() -> None:
    """Keep each change compatible with roles of the release before."""
    with op.batch_alter_table("incident") as incident:
        incident.add_column(sa.Column("impact_count", sa.Integer(), nullable=True))
    op.create_table(
        "notification_secret",
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("channel"),
    )
    for table in ("sli_hour", "served_hour"):
        op.create_index(f"{table}_hour", table, ["hour"])
    op.create_table(
        "dataset_claim",
        sa.Column("alias_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("dataset_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("job_namespace", sa.Text(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("first_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("landed_at", sa.BigInteger(), nullable=False),
        sa.Column("last_landed_at", sa.BigInteger(), nullable=False),
        sa.Column("is_refused", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("alias_key", "dataset_key", "rule", "job_namespace"),
    )
    with op.batch_alter_table("dataset_claim") as batch_op:
        batch_op.create_index("claim_dataset", ["dataset_key"])
        batch_op.create_index("claim_refused", ["is_refused", "last_landed_at"])
    op.create_table(
        "dataset_producer",
        sa.Column("dataset_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("job_namespace", sa.Text(), nullable=False),
        sa.Column("landed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_key", "job_namespace"),
    )
    op.create_index(
        "alias_link",
        "dataset_alias",
        ["dataset_key", "namespace", "rule"],
        sqlite_where=sa.text(_IS_LINK),
        postgresql_where=sa.text(_IS_LINK),
    )
    with op.batch_alter_table("dataset") as batch_op:
        batch_op.add_column(
            sa.Column("is_declared", sa.Boolean(), server_default=sa.false(), nullable=False)
        )
    op.execute(_PRODUCERS)
    op.execute(_CLAIMS)
    op.create_table(
        "event_set_aside",
        sa.Column("spool_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("failed_at", sa.BigInteger(), nullable=False),
        sa.Column("producer", sa.Text(), nullable=True),
        sa.Column("job_namespace", sa.Text(), nullable=True),
        sa.Column("job_name", sa.Text(), nullable=True),
        sa.Column("run_id", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("spool_seq"),
    )
    op.create_index("event_set_aside_failed", "event_set_aside", ["failed_at"])
    op.create_table(
        "attribute_claim",
        sa.Column("dataset_key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("job_namespace", sa.Text(), nullable=False),
        sa.Column("job_name", sa.Text(), nullable=True),
        sa.Column("last_landed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_key", "kind", "value", "job_namespace"),
    )
    op.create_index("attribute_claim_landed", "attribute_claim", ["last_landed_at"])
    op.create_table(
        "event_requeue",
        sa.Column("spool_seq", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("requested_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("spool_seq"),
    )


def downgrade() -> None:
    """Undo `upgrade`, newest change first."""
    op.drop_table("event_requeue")
    op.drop_index("attribute_claim_landed", "attribute_claim")
    op.drop_table("attribute_claim")
    op.drop_index("event_set_aside_failed", "event_set_aside")
    op.drop_table("event_set_aside")
    for table in ("served_hour", "sli_hour"):
        op.drop_index(f"{table}_hour", table)
    op.drop_table("notification_secret")
    with op.batch_alter_table("incident") as incident:
        incident.drop_column("impact_count")
    op.drop_index("alias_link", "dataset_alias")
    with op.batch_alter_table("dataset") as batch_op:
        batch_op.drop_column("is_declared")
    op.drop_table("dataset_producer")
    op.drop_table("dataset_claim")
