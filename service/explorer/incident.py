"""Page of an incident: cause, response, timeline and actions."""

import msgspec

from lineage.names import keys
from runbooks.library import RUNBOOKS_PATH, page_names
from service.queries.catalog_session import CatalogSession
from service.queries.datasets import states_of
from service.queries.incident import load_incident
from service.queries.incident_notifications import NotificationList, list_sent
from service.queries.incident_shapes import IncidentDetail, IncidentImpacted, IncidentRow

MOST_MEMBERS = 200
MOST_AFFECTED = 1_000  # less than the query returns, so that the page knows whether there are more
LENGTHS = ("1h", "4h", "1d", "7d")
_LABELS = {
    "acknowledge": "Acknowledge",
    "suppress": "Suppress",
    "unsuppress": "Unsuppress",
    "escalate": "Escalate",
    "resolve": "Resolve",
    "false-alarm": "Mark as false alarm",
}
_BY_STATE = {
    "open": ("acknowledge", "escalate", "suppress", "resolve", "false-alarm"),
    "acknowledged": ("escalate", "suppress", "resolve", "false-alarm"),
    "suppressed": ("unsuppress", "resolve", "false-alarm"),
    "resolved": ("false-alarm",),
}


class Button(msgspec.Struct, frozen=True):
    """Button of an action: its name in the path, and its label."""

    action: str
    label: str


class AffectedDataset(msgspec.Struct, frozen=True):
    """Dataset at or below the root, with its current state."""

    row: IncidentImpacted
    state: str


class IncidentView(msgspec.Struct, frozen=True):
    """View of the page; `actions` is empty for users who may not see every namespace."""

    detail: IncidentDetail
    notifications: NotificationList
    affected: list[AffectedDataset]
    is_affected_cut: bool
    runbook: str | None
    actions: list[Button]
    outcome: str | None


def incident_view(
    asked: CatalogSession, incident_id: str, *, did: str | None = None, waits: str | None = None
) -> IncidentView:
    """Load the page from one snapshot; `did` and `waits` name the action just requested."""
    detail = load_incident(asked.reader, incident_id, asked.visibility)
    kind = detail.incident.kind
    return IncidentView(
        detail=detail,
        notifications=list_sent(asked.reader, incident_id, asked.visibility),
        affected=_affected(asked, detail.impacted[:MOST_AFFECTED]),
        is_affected_cut=detail.is_impacted_partial or len(detail.impacted) > MOST_AFFECTED,
        runbook=f"{RUNBOOKS_PATH}/{kind}" if kind in page_names() else None,
        actions=actions_of(detail.incident) if asked.visibility.is_whole else [],
        outcome=_outcome(did, waits),
    )


def actions_of(row: IncidentRow) -> list[Button]:
    """Return the buttons that the state of an incident allows."""
    return [Button(action, _LABELS[action]) for action in _BY_STATE.get(row.state, ())]


def _affected(asked: CatalogSession, impacted: list[IncidentImpacted]) -> list[AffectedDataset]:
    of = [keys.key(row.dataset_namespace, row.dataset) for row in impacted]
    states = states_of(asked.reader, of, asked.evaluated)
    return [AffectedDataset(row, state) for row, state in zip(impacted, states, strict=True)]


def _outcome(did: str | None, waits: str | None) -> str | None:
    """Describe the result of a known action; other words of an address are not shown."""
    if did in _LABELS:
        return f"Done: {_LABELS[did]}."
    if waits in _LABELS:
        return f"Requested: {_LABELS[waits]}. It waits for the leading service."
    return None
