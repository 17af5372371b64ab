"""One incident: what is wrong, who is on it, what happened, and what may be done."""

import msgspec

from lineage import keys
from runbooks.library import PATH, page_names
from service.answers.datasets import states_of
from service.answers.incident_shapes import IncidentDetail, IncidentImpacted, IncidentRow
from service.answers.incident_told import Told, diagnosis, told
from service.answers.incidents import incident
from service.asking import Question
from service.diagnosis.ranking import Diagnosis

MOST_MEMBERS = 200
MOST_AFFECTED = 1_000  # below what the answer holds: whether there are more is seen there
LENGTHS = ("1h", "4h", "1d", "7d")
_DO = {
    "acknowledge": "I am on it",
    "suppress": "Suppress",
    "unsuppress": "End the suppression",
    "escalate": "Escalate",
    "resolve": "Resolve",
    "false-alarm": "False alarm",
}
_BY_STATE = {
    "open": ("acknowledge", "escalate", "suppress", "resolve", "false-alarm"),
    "acknowledged": ("escalate", "suppress", "resolve", "false-alarm"),
    "suppressed": ("unsuppress", "resolve", "false-alarm"),
    "resolved": ("false-alarm",),
}


class Deed(msgspec.Struct, frozen=True):
    """A button: the action's name in its path, and what it says."""

    action: str
    says: str


class Hurt(msgspec.Struct, frozen=True):
    """A dataset that is the root's or made of it, and how it is now."""

    row: IncidentImpacted
    state: str


class IncidentView(msgspec.Struct, frozen=True):
    """The page. `deeds`: none for whoever may not see every namespace, nor so act."""

    detail: IncidentDetail
    diagnosis: Diagnosis | None
    told: Told
    affected: list[Hurt]
    is_affected_cut: bool
    runbook: str | None
    deeds: list[Deed]
    outcome: str | None


def incident_view(
    asked: Question, incident_id: str, *, did: str | None = None, waits: str | None = None
) -> IncidentView:
    """All of one moment of the catalog; `did` and `waits` name what was just asked for."""
    detail = incident(asked.reader, incident_id, asked.sight)
    kind = detail.incident.kind
    return IncidentView(
        detail=detail,
        diagnosis=diagnosis(asked.reader, incident_id, asked.sight),
        told=told(asked.reader, incident_id, asked.sight),
        affected=_affected(asked, detail.impacted[:MOST_AFFECTED]),
        is_affected_cut=detail.is_impacted_partial or len(detail.impacted) > MOST_AFFECTED,
        runbook=f"{PATH}/{kind}" if kind in page_names() else None,
        deeds=deeds(detail.incident) if asked.sight.is_whole else [],
        outcome=_outcome(did, waits),
    )


def deeds(row: IncidentRow) -> list[Deed]:
    """What means something in its state."""
    return [Deed(action, _DO[action]) for action in _BY_STATE.get(row.state, ())]


def _affected(asked: Question, impacted: list[IncidentImpacted]) -> list[Hurt]:
    of = [keys.key(row.dataset_namespace, row.dataset) for row in impacted]
    states = states_of(asked.reader, of, asked.evaluated)
    return [Hurt(row, state) for row, state in zip(impacted, states, strict=True)]


def _outcome(did: str | None, waits: str | None) -> str | None:
    """Words for our own actions alone: an address can say nothing else here."""
    if did in _DO:
        return f"Done: {_DO[did]}."
    if waits in _DO:
        return f"Asked: {_DO[waits]}. Nobody has taken it yet: it is done at the next evaluation."
    return None
