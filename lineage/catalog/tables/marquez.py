"""Exchange with a Marquez and its state: written by the marquez role.

That role also writes its own row of `reader_cursor`: how far the spool has been forwarded.
"""

from typing import Final

from sqlalchemy import BigInteger, Column, Float, LargeBinary, Table, Text

from lineage.catalog.tables.columns import flag, instant, key_column, metadata, text_key

READER: Final = "marquez"

marquez_counter = Table(
    "marquez_counter",
    metadata,
    text_key("name"),  # forwarded, set_aside, pulled, pull_refused …
    Column("value", BigInteger, nullable=False),
)

marquez_set_aside = Table(
    "marquez_set_aside",
    metadata,
    key_column("spool_seq"),  # of an event that is not forwarded
    Column("run", Text, nullable=False),  # run id, or the job's or dataset's name
    Column("reason", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),  # cut to 64 KiB
    Column("body_bytes", BigInteger, nullable=False),
    instant("set_aside_at", nullable=False),
)

marquez_pull = Table(
    "marquez_pull",
    metadata,
    text_key("url"),  # another Marquez is pulled from its own start
    instant("started_at", nullable=False),  # the first pull: what is older is for a backfill
    instant("through", nullable=False),  # event times up to here were asked for
)

marquez_probe = Table(
    "marquez_probe",
    metadata,
    key_column("at"),
    flag("is_answered"),
    Column("seconds", Float),  # of a lineage query that was answered 200
    Column("status", BigInteger),
    Column("detail", Text, nullable=False),  # the node asked for, or what went wrong
)

marquez_comparison = Table(
    "marquez_comparison",
    metadata,
    key_column("at"),
    Column("sampled_ours", BigInteger, nullable=False),
    Column("missing_there", BigInteger, nullable=False),
    Column("sampled_theirs", BigInteger, nullable=False),
    Column("missing_here", BigInteger, nullable=False),
)

marquez_missing_run = Table(
    "marquez_missing_run",
    metadata,
    text_key("side"),  # there | here: where the last comparison missed it
    text_key("run_id"),
    Column("job_namespace", Text, nullable=False),
    Column("job_name", Text, nullable=False),
)
