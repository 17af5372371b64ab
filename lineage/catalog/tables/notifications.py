"""Notifications of incidents, their delivery and state: written by the service.

The state is written with the incident itself.
"""

from sqlalchemy import Column, Float, Index, Integer, Table, Text

from lineage.catalog.tables.columns import flag, instant, key_column, metadata, text_key

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

notification = Table(
    "notification",
    metadata,
    text_key("incident_id"),
    key_column("revision"),
    text_key("channel"),  # kind:target
    Column("target", Text, nullable=False),  # Slack channel, file of a routing key, webhook's name
    Column("kind", Text, nullable=False),
    Column("message", Text, nullable=False),  # JSON
    Column("state", Text, nullable=False),  # waiting | sent | failed | superseded
    Column("attempts", Integer, nullable=False),
    instant("created_at", nullable=False),
    instant("undelivered_since", nullable=False),  # with what it stands for
    instant("next_attempt_at", nullable=False),  # during an attempt: when it is given up for lost
    instant("doubt_since"),  # from then on an attempt may have arrived; null: none has
    instant("finished_at"),
    Column("handle", Text),  # how the provider knows it: JSON
    Column("reason", Text, nullable=False),  # a word of a small set; empty when all is well
    Column("error", Text, nullable=False),  # cut; never a token
    Column("fallback_for", Text),  # the channel that this stands in for
    instant("fell_back_at"),  # when the fallback channel was notified
    Index("notification_waiting", "state", "channel", "next_attempt_at"),
    Index("notification_fallback", "incident_id", "fallback_for"),
)

notification_channel = Table(
    "notification_channel",
    metadata,
    text_key("channel"),  # or a kind of channel, which an alert may be about
    instant("held_until", nullable=False),  # nothing is sent there before
    Column("failures", Integer, nullable=False),  # in a row
    Column("alert_id", Text),  # of the incident about this channel; null: it takes what we send
)

notification_secret = Table(
    "notification_secret",
    metadata,
    text_key("channel"),  # that has, or had, failed notifications
    Column("mark", Text, nullable=False),  # distinguishes its secrets; empty: it had none
)

notification_count = Table(
    "notification_count",
    metadata,
    text_key("metric"),  # sent | failed | repeated
    text_key("channel"),
    text_key("label"),  # kind, or reason
    Column("value", Float, nullable=False),
)
