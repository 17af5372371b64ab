"""Notification state of each incident: written by the service, with the incident itself."""

from sqlalchemy import Column, Index, Table, Text

from lineage.catalog.tables.columns import flag, instant, metadata, text_key

incident_notification = Table(
    "incident_telling",
    metadata,
    text_key("incident_id"),
    # JSON of `alerts.notify.notification_state.NotificationState`
    Column("telling", Text, nullable=False),
    Column("fault", Text, nullable=False),  # as the label root_kind of lineage_incident_open
    Column("addressee", Text, nullable=False),  # notified owner; empty: none yet
    Column("severity", Text, nullable=False),  # page | ticket
    flag("is_bad"),  # open, and nobody asked for silence
    flag("is_told"),
    instant("due_at"),  # when time brings something; null: only a change does
    Column("policy", Text, nullable=False),  # hash of the one that due_at goes by
    Column("hidden_by", Text),  # the window that hid it; null once notified of that
    instant("hidden_until"),
    instant("ended_at"),
    Index("incident_telling_due", "is_bad", "due_at"),
    Index("incident_telling_hidden", "hidden_by"),
)
