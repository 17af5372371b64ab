"""Requests of people and their audit log, written by whichever process takes the request.

That is a replica of the service or a command. The pipeline also appends to the audit log, when it
retires a dataset. The leader of the service answers requests and ends suppression windows.
"""

from sqlalchemy import Column, Index, Table, Text

from lineage.catalog.tables.columns import instant, key_column, metadata, number_column, text_key

incident_command = Table(
    "incident_command",
    metadata,
    number_column(),
    instant("asked_at", nullable=False),
    Column("by", Text, nullable=False),
    Column("via", Text, nullable=False),  # api | cli | page | slack | pagerduty
    Column("incident_id", Text, nullable=False),
    # A `CommandAction` of `alerts.operator_actions.command_requests`.
    Column("action", Text, nullable=False),
    instant("until"),
    Column("note", Text, nullable=False),
    Column("request_id", Text, unique=True),  # the same request asks once; null: each does
    instant("done_at"),
    Column("answer", Text),  # empty: done; else why not
    Index("incident_command_done", "done_at"),
    sqlite_autoincrement=True,
)

suppression = Table(
    "suppression",
    metadata,
    number_column(),
    Column("name", Text, nullable=False),
    Column("pattern", Text, nullable=False),  # namespace/name, as in the policy
    instant("from_at", nullable=False),
    instant("until_at", nullable=False),
    Column("by", Text, nullable=False),
    Column("via", Text, nullable=False),
    Column("reason", Text, nullable=False),
    instant("created_at", nullable=False),
    instant("ended_at"),  # by a person, before its time
    instant("told_at"),  # when the notification of what it hid was sent
    Index("suppression_until", "until_at"),
    sqlite_autoincrement=True,
)

retirement = Table(
    "retirement",
    metadata,
    key_column("dataset_key"),
    instant("requested_at", nullable=False),
    Column("note", Text, nullable=False),
)

event_requeue = Table(
    "event_requeue",
    metadata,
    key_column("spool_seq"),  # of an event that was set aside: the collector has it again
    instant("requested_at", nullable=False),
)

collector_removal = Table(
    "collector_removal",
    metadata,
    text_key("collector"),  # an operator says that this collector does not come back
    instant("heartbeat_at", nullable=False),  # its last one then; with a later one it is back
    instant("requested_at", nullable=False),
)

audit = Table(
    "audit",
    metadata,
    number_column(),
    instant("at", nullable=False),
    Column("who", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("via", Text),  # api | cli | page | slack | pagerduty | policy; null: it needs none
    Column("answer", Text),  # done, or why not; null: not known yet, or never anything but done
)
