"""Requests to the service, how well they were served, and who may send them.

Written by the service: what a replica served and decided by the replica, all else by the leader.
"""

from sqlalchemy import BigInteger, Column, Float, Index, Integer, Table, Text

from lineage.catalog.tables.columns import instant, key_column, metadata, number_column, text_key

served_counter = Table(
    "served_counter",
    metadata,
    text_key("sli"),  # M7, M8, M10; shown under the catalog's epoch
    text_key("tier"),
    text_key("tier_origin"),
    Column("good", Float, nullable=False),
    Column("total", Float, nullable=False),
    Column("unknown", Float, nullable=False),
)

served_hour = Table(
    "served_hour",
    metadata,
    text_key("sli"),
    text_key("tier"),
    key_column("hour"),
    Column("good", Float, nullable=False),
    Column("total", Float, nullable=False),
    Column("unknown", Float, nullable=False),
    Index("served_hour_hour", "hour"),
)

served_bucket = Table(
    "served_bucket",
    metadata,
    text_key("metric"),
    text_key("backend"),
    text_key("query"),
    text_key("le"),  # upper bound in seconds, as Prometheus writes it; "sum" holds the sum
    Column("value", Float, nullable=False),
)

served_count = Table(
    "served_count",
    metadata,
    text_key("metric"),
    text_key("label"),
    Column("value", Float, nullable=False),
)

service_cursor = Table(
    "service_cursor",
    metadata,
    # access: the last row of `access_audit` that was judged; explained: time of the last evaluation
    # whose bad time was assigned to incidents; incidents: how often incidents were written.
    text_key("name"),
    Column("position", BigInteger, nullable=False),
)

access_version = Table(
    "access_version",
    metadata,
    key_column("in_force_from"),
    Column("hash", Text, nullable=False),
    Column("content", Text, nullable=False),  # JSON: what each token may; never a token
)

access_audit = Table(
    "access_audit",
    metadata,
    number_column(),
    instant("at", nullable=False),
    Column("request_id", Text, nullable=False),
    Column("who", Text, nullable=False),  # the token's name; empty for a token that none has
    Column("fingerprint", Text, nullable=False),  # of the token that was shown
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),  # what was asked for
    Column("namespaces", Text, nullable=False),  # JSON: asked for, or named in the answer
    Column("decision", Text, nullable=False),  # allow | deny
    Column("reason", Text, nullable=False),
    Column("status", Integer, nullable=False),
    Column("version", Text, nullable=False),  # hash of the access policy that decided
    Index("access_audit_at", "at"),
    Index("access_audit_request", "request_id"),
    sqlite_autoincrement=True,  # a number is never given twice, whatever was pruned
)
