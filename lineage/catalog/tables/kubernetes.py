"""SparkApplications and failed pods of a Kubernetes cluster: written by the kubernetes role."""

from sqlalchemy import BigInteger, Column, Index, Table, Text, text

from lineage.catalog.tables.columns import flag, instant, key_column, metadata, text_key

_NEWEST = text("is_newest")
_EXISTING = text("deleted_at IS NULL")

spark_application = Table(
    "spark_application",
    metadata,
    text_key("uid"),  # of the object: another one of the same name has another uid
    Column("kube_namespace", Text, nullable=False),
    Column("name", Text, nullable=False),  # of the object
    # The job as the listener would call it; the namespace is null where no listener is configured.
    Column("job_namespace", Text),
    Column("job_name", Text, nullable=False),
    Column("spark_id", Text),  # `run.application_id` of its events; null: never submitted
    Column("has_listener", BigInteger),  # a `ListenerState`; null: an older release
    Column("state", Text, nullable=False),  # as the operator writes it
    flag("is_ended"),
    flag("is_newest"),  # the last submission of its job
    Column("problem", Text),  # the operator's message about a failure, redacted
    Column("owner", Text),  # by an annotation or a label
    Column("summary", Text, nullable=False),  # a sentence, which begins with the submission time
    instant("submitted_at", nullable=False),  # the last attempt
    instant("ended_at"),
    instant("seen_at", nullable=False),  # by the last list or event that had it
    instant("deleted_at"),  # null: the object exists
    Index(
        "spark_application_existing",
        *("kube_namespace", "seen_at"),
        sqlite_where=_EXISTING,
        postgresql_where=_EXISTING,
    ),
    Index("spark_application_seen", "seen_at"),
    Index("spark_application_job", "job_name", "submitted_at"),
    Index("spark_application_id", "spark_id"),
    Index(
        "spark_application_newest",
        "job_name",
        sqlite_where=_NEWEST,
        postgresql_where=_NEWEST,
    ),
)

spark_output = Table(
    "spark_output",
    metadata,
    text_key("uid"),  # of the application
    key_column("dataset_key"),  # that an annotation of the application names
    Index("spark_output_dataset", "dataset_key"),
)

spark_pod_failure = Table(
    "spark_pod_failure",
    metadata,
    text_key("uid"),  # of the pod
    Column("kube_namespace", Text, nullable=False),
    Column("pod", Text, nullable=False),
    Column("spark_id", Text, nullable=False),
    Column("role", Text, nullable=False),  # driver | executor
    Column("cause", Text, nullable=False),  # OOMKilled, Evicted, …: in Kubernetes' words
    Column("detail", Text),  # the message about it, redacted
    instant("failed_at", nullable=False),
    Index("spark_pod_failure_application", "spark_id", "failed_at"),
    Index("spark_pod_failure_time", "failed_at"),
)

kubernetes_watch = Table(
    "kubernetes_watch",
    metadata,
    text_key("resource"),
    text_key("kube_namespace"),
    instant("complete_since"),  # no change since then was missed; null: never listed
    instant("complete_until"),
    Column("problem", Text),  # null: the watch works
    instant("problem_since"),
)
