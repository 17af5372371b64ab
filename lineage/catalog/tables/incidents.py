"""Incidents, their members and the alerts of others, written by the service.

One replica writes them, the leader; an alert of Alertmanager is stored by the replica that it was
posted to.
"""

from sqlalchemy import BigInteger, Boolean, Column, Float, Index, Integer, Table, Text

from lineage.catalog.tables.columns import flag, instant, key_column, metadata, text_key

incident = Table(
    "incident",
    metadata,
    text_key("incident_id"),
    Column("state", Text, nullable=False),  # as `alerts.incidents.incident.IncidentState`
    Column("revision", BigInteger, nullable=False),
    flag("is_remembered"),  # the next step is given it
    Column("life", Text, nullable=False),  # JSON of `alerts.incidents.incident.Incident`
    Column("what", Text, nullable=False),  # is wrong, in one line
    Column("root_entity", Text, nullable=False),
    Column("root_key", BigInteger, nullable=False),
    Column("root_kind", Text, nullable=False),
    Column("root_namespace", Text, nullable=False),
    Column("root_name", Text, nullable=False),
    Column("unknown", Text),  # why the root is not known
    Column("severity", Text, nullable=False),  # page | ticket
    Column("because", Text, nullable=False),
    Column("score", Float, nullable=False),
    instant("hit_at"),  # when the first dataset of a tier that pages is hit
    Column("owner", Text),
    Column("evidence", Text, nullable=False),  # in words
    Column("correlation_id", Text, nullable=False),
    Column(
        "diagnosis", Text
    ),  # JSON of `service.incidents.diagnosis.ranking.Diagnosis`; null: not made yet
    flag("is_bridged"),
    flag("is_flapping"),
    flag("is_frozen"),
    Column("is_false_alarm", Boolean),  # as a person marked it; null: nobody did
    instant("onset", nullable=False),
    instant("seen_at", nullable=False),
    instant("opened_at"),
    instant("acknowledged_at"),
    Column("acknowledged_by", Text),
    instant("resolved_at"),
    Column("merged_into", Text),
    instant("released_at"),  # when people were first notified; null: not yet
    instant("fault_at"),  # M8's clock runs from it; null: it has not seen this yet
    instant("accepted_at"),  # a channel, other than a webhook for tickets, took its page
    Column("impact_outcome", Text),  # of M8: good | bad | unknown | left_out; null: it runs
    Column("impact_count", Integer),  # datasets that its root affects; null: not known
    Index("incident_remembered", "is_remembered"),
    Index("incident_clock", "severity", "impact_outcome", "fault_at"),
    Index("incident_opened", "opened_at"),
)

incident_event = Table(
    "incident_event",
    metadata,
    text_key("incident_id"),
    key_column("revision"),
    instant("at", nullable=False),
    Column("what", Text, nullable=False),  # as `alerts.incidents.steps.EventKind`
    Column("reason", Text, nullable=False),
    Column("by", Text),  # the person, where one did it
    Column("detail", Text, nullable=False),  # JSON of `alerts.incidents.steps.IncidentEvent`
    Index("incident_event_at", "at"),
)

incident_member = Table(
    "incident_member",
    metadata,
    text_key("incident_id"),
    key_column("dataset_key"),
    Column("kind", Text, nullable=False),
    instant("onset", nullable=False),
    Column("steps", Integer, nullable=False),  # explanations between it and the root
    Column("explained_by", BigInteger),  # dataset key
    Column("relays", Text, nullable=False),  # JSON: keys of datasets that cannot be observed
    Column("job_key", BigInteger, nullable=False),
    Column("run_id", Text),  # its newest failed run
    instant("joined_at", nullable=False),
    instant("left_at"),
    Index("incident_member_dataset", "dataset_key"),
)

incident_impact = Table(
    "incident_impact",
    metadata,
    text_key("incident_id"),
    key_column("dataset_key"),
    Column("hops", Integer, nullable=False),  # from the root's own datasets, as of onset
    sqlite_with_rowid=False,
)

sli_explained = Table(
    "sli_explained",
    metadata,
    text_key("sli"),
    text_key("tier"),
    Column("value", Float, nullable=False),  # dataset-seconds that were bad, in an open incident
)

incident_escalation = Table(
    "incident_escalation",
    metadata,
    text_key("incident_id"),
    key_column("step"),  # position in the owner's escalation
    text_key("owner"),  # whose
    instant("told_at", nullable=False),
    Column("channel", Text, nullable=False),
)

received_alert = Table(
    "received_alert",
    metadata,
    text_key("fingerprint"),  # as Alertmanager has it
    instant("starts_at", nullable=False),
    instant("ends_at"),  # null: it fires
    instant("received_at", nullable=False),
    Column("name", Text, nullable=False),
    Column("labels", Text, nullable=False),  # JSON
    Column("annotations", Text, nullable=False),  # JSON
    Column("incident_id", Text),  # the incident that it speaks of
    Column("revision", BigInteger, nullable=False),  # of its own message; 0: it has none
    Column("channels", Text, nullable=False),  # JSON: notified of it, but not of its end
)

digest = Table(
    "digest",
    metadata,
    text_key("owner"),  # who was notified; empty: everybody of that day
    text_key("day"),  # YYYY-MM-DD, of the policy's time zone
    instant("told_at", nullable=False),
)
