"""Store the SparkApplications, failed pods and watches of a Kubernetes cluster."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
_NEWEST = sa.text("is_newest")
_EXISTING = sa.text("deleted_at IS NULL")


def _text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _number(name: str, *, nullable: bool = True) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=nullable)


def upgrade() -> None:
    """Keep working while roles of the release before still run."""
    op.create_table(
        "spark_application",
        *(_text(name) for name in ("uid", "kube_namespace", "name", "job_name")),
        *(_text(name) for name in ("state", "summary")),
        *(_text(name, nullable=True) for name in ("job_namespace", "spark_id")),
        *(_text(name, nullable=True) for name in ("problem", "owner")),
        *(sa.Column(name, sa.Boolean(), nullable=False) for name in ("is_ended", "is_newest")),
        *(_number(name) for name in ("has_listener", "ended_at", "deleted_at")),
        *(_number(name, nullable=False) for name in ("submitted_at", "seen_at")),
        sa.PrimaryKeyConstraint("uid"),
    )
    op.create_index(
        "spark_application_existing",
        "spark_application",
        ["kube_namespace", "seen_at"],
        sqlite_where=_EXISTING,
        postgresql_where=_EXISTING,
    )
    op.create_index("spark_application_seen", "spark_application", ["seen_at"])
    op.create_index("spark_application_job", "spark_application", ["job_name", "submitted_at"])
    op.create_index("spark_application_id", "spark_application", ["spark_id"])
    op.create_index(
        "spark_application_newest",
        "spark_application",
        ["job_name"],
        sqlite_where=_NEWEST,
        postgresql_where=_NEWEST,
    )
    op.create_table(
        "spark_output",
        _text("uid"),
        _number("dataset_key", nullable=False),
        sa.PrimaryKeyConstraint("uid", "dataset_key"),
    )
    op.create_index("spark_output_dataset", "spark_output", ["dataset_key"])
    op.create_table(
        "spark_pod_failure",
        *(_text(name) for name in ("uid", "kube_namespace", "pod", "spark_id", "role", "cause")),
        _text("detail", nullable=True),
        _number("failed_at", nullable=False),
        sa.PrimaryKeyConstraint("uid"),
    )
    op.create_index("spark_pod_failure_application", "spark_pod_failure", ["spark_id", "failed_at"])
    op.create_index("spark_pod_failure_time", "spark_pod_failure", ["failed_at"])
    op.create_table(
        "kubernetes_watch",
        *(_text(name) for name in ("resource", "kube_namespace")),
        *(_number(name) for name in ("complete_since", "complete_until", "problem_since")),
        _text("problem", nullable=True),
        sa.PrimaryKeyConstraint("resource", "kube_namespace"),
    )


def downgrade() -> None:
    """Undo `upgrade`."""
    for table in ("kubernetes_watch", "spark_pod_failure", "spark_output", "spark_application"):
        op.drop_table(table)
