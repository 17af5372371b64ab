"""Results of an evaluation, and its inputs: the resolved policy and learned intervals.

Written by the pipeline; what is found, in one transaction. Name patterns that grow are written
again with each evaluation.
"""

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, Table, Text, text

from lineage.catalog.tables.columns import flag, instant, key_column, metadata, text_key

_WATCHED = text("is_watched")

dataset_policy = Table(
    "dataset_policy",
    metadata,
    key_column("dataset_key"),
    Column("tier", Text, nullable=False),
    Column("tier_origin", Text, nullable=False),  # declared | inherited | tag | default
    Column("tier_reason", Text),
    Column("owner", Text),
    Column("owner_origin", Text),  # policy | facet | kubernetes
    flag("is_source"),
    flag("is_generated"),
    flag("is_streaming"),
    flag("is_declared"),  # the policy names it outright: expected before it is ever seen
    Column("is_regulated", Boolean),
    Column("is_expected", Boolean),  # false: only ever read, and by the way
    Column("declared_limit_seconds", Float),
    Column("plan", Text),  # calendar and suppressions; null: time counts around the clock
    sqlite_with_rowid=False,
)

dataset_limit = Table(
    "dataset_limit",
    metadata,
    key_column("dataset_key"),
    Column("limit_seconds", Float),  # null: still learning
    Column("cadence_class", Text, nullable=False),  # as `slis.cadence.profile` has it
    Column("cadence_seconds", Float),
    Column("duration_seconds", Float),  # usual, from the first START to the last COMPLETE
    Column("gaps", Integer, nullable=False),
    Column("explanation", Text, nullable=False),
    instant("learned_at", nullable=False),
    sqlite_with_rowid=False,
)

evaluation = Table(
    "evaluation",
    metadata,
    key_column("as_of"),
    Column("previous_as_of", BigInteger),
    Column("last_seq", BigInteger, nullable=False),  # batches up to here were counted in M6
    Column("policy_hash", Text, nullable=False),
    Column("datasets", BigInteger, nullable=False),
    Column("seconds", Float, nullable=False),
)

sli_counter = Table(
    "sli_counter",
    metadata,
    text_key("sli"),  # ids of `lineage.states.SLIS`
    text_key("tier"),
    text_key("tier_origin"),
    text_key("epoch"),
    Column("good", Float, nullable=False),  # events, or dataset-seconds
    Column("total", Float, nullable=False),
    Column("unknown", Float, nullable=False),
)

sli_hour = Table(
    "sli_hour",
    metadata,
    text_key("sli"),
    text_key("tier"),
    key_column("hour"),
    Column("good", Float, nullable=False),
    Column("total", Float, nullable=False),
    Column("unknown", Float, nullable=False),
    Index("sli_hour_hour", "hour"),
)

sli_now = Table(
    "sli_now",
    metadata,
    text_key("sli"),
    text_key("tier"),
    text_key("tier_origin"),
    Column("good", Float, nullable=False),
    Column("total", Float, nullable=False),
    Column("unknown", Float, nullable=False),
    Column("learning", Float, nullable=False),
    Column("excepted", Float, nullable=False),
)

dataset_state = Table(
    "dataset_state",
    metadata,
    key_column("dataset_key"),
    text_key("sli"),
    Column("state", Text, nullable=False),  # good | bad | learning | unknown
    Column("reason", Text),
    Column("evidence", Text),
    instant("since", nullable=False),
    Column("age_seconds", Float),
    Column("limit_seconds", Float),
    Column("limit_origin", Text),  # declared | streaming | learned
    Column("was_good", Boolean),  # at some evaluation since the state is there
    Column("is_worst", Boolean),  # of the dataset's; where all are good, the one since the latest
    sqlite_with_rowid=False,
)

# Written by triggers of the tables that an evaluation reads of a dataset: no writer can forget it.
dataset_change = Table(
    "dataset_change",
    metadata,
    key_column("dataset_key"),  # of a fact or an edge that changed since the last evaluation
    sqlite_with_rowid=False,
)

dataset_judgement = Table(
    "dataset_judgement",
    metadata,
    key_column("dataset_key"),
    instant("next_change_at"),  # the earliest time at which M1, M2 or a reason changes by itself
    Column("tier", Text, nullable=False),  # tier and origin as counted in the tallies
    Column("tier_origin", Text, nullable=False),
    flag("is_source"),
    Column("coverage", Text),  # state of M1; null: in no total
    Column("freshness", Text, nullable=False),  # state of M2
    flag("is_watched"),  # facts of other tables than its own may change the reason
    Column("near_key", BigInteger),  # hash of what similar names share; null: they share nothing
    Index("dataset_judgement_next", "next_change_at"),
    Index("dataset_judgement_near", "near_key"),
    Index(
        "dataset_judgement_watched", "dataset_key", sqlite_where=_WATCHED, postgresql_where=_WATCHED
    ),
    sqlite_with_rowid=False,
)

lag_bucket = Table(
    "lag_bucket",
    metadata,
    text_key("processing"),  # batch | streaming
    text_key("le"),  # upper bound in seconds, as Prometheus writes it; "sum" holds the sum
    Column("value", Float, nullable=False),
)

accuracy_stratum = Table(
    "accuracy_stratum",
    metadata,
    text_key("producer"),
    text_key("adapter_version"),
    Column("good", BigInteger, nullable=False),
    Column("total", BigInteger, nullable=False),
    Column("ratio", Float, nullable=False),
    Column("lower", Float, nullable=False),  # bounds of the Wilson interval, 95 %
    Column("upper", Float, nullable=False),
    Column("state", Text, nullable=False),  # good | bad | unknown
)

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
