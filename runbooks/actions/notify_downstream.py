"""Notice to each downstream owner, once, of their datasets that a failing dataset affects.

A notice pages nobody: it goes to the channel in which an owner reads automatic notices, too.
"""

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta
from sqlalchemy import select

from alerts.incidents.affected_datasets import MAX_LISTED
from alerts.notify.channels.name import ChannelName, parse_channel
from alerts.notify.message import Impacted, Message, MessageLinks, MessageRoot
from alerts.notify.outbox import enqueue
from alerts.notify.recipients import notice_channel
from lineage.catalog.engine import write_transaction
from lineage.catalog.tables import dataset, incident, incident_member
from lineage.names.keys import key
from lineage.states import TIERS
from runbooks.actions.action import ActionContext, ActionPlan, Affected, Done, Downstream
from runbooks.actions.errors import InvalidActionError, RejectedActionError

_MOST_ROOTS = 20
_NO_OWNER = ""
_NO_CHANNEL = "has no channel for notices in the policy: not notified"


class NotifyDownstream(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Request by a dataset's name or an incident's id; `note` is added to the notices."""

    note: Annotated[str, Meta(min_length=1, max_length=500)]
    dataset: str | None = None
    dataset_namespace: str | None = None
    incident: str | None = None


class NoticeSubject(msgspec.Struct, frozen=True):
    """Subject of the notice."""

    id: str
    root: MessageRoot
    what: str
    since: int
    correlation_id: str
    roots: tuple[Downstream, ...]


def plan(asked: NotifyDownstream, context: ActionContext) -> ActionPlan:
    """Plan which owners to notify, where, and about how many datasets.

    Raises:
        InvalidActionError: no such dataset or incident.
        RejectedActionError: no downstream owner can be notified.
    """
    subject = _subject(asked, context)
    by_owner = _by_owner(subject.roots)
    channels = _channels(context, by_owner)
    if not channels:
        named = ", ".join(sorted(filter(None, by_owner))) or "none"
        raise RejectedActionError(
            f"no owner downstream of {subject.root.name} has a channel for notices in the policy;"
            f" nobody can be notified; owners: {named}"
        )
    does = [
        f"notify {owner} in {channel} about {len(by_owner[owner]):,} datasets"
        for owner, channel in sorted(channels.items())
    ]
    cautions = _describe_unreached(by_owner, set(by_owner) - set(channels))
    cautions += [root.cut for root in subject.roots if root.cut]
    figures = {"notices": len(channels), "datasets": sum(map(len, by_owner.values()))}
    return ActionPlan(does=tuple(does), figures=figures, cautions=tuple(cautions))


def _describe_unreached(by_owner: dict[str, list[Affected]], unreached: set[str]) -> list[str]:
    found = [f"{owner} {_NO_CHANNEL}" for owner in sorted(unreached - {_NO_OWNER})]
    if orphans := len(by_owner.get(_NO_OWNER, ())):
        found.append(f"datasets without an owner: {orphans:,}; nobody is notified of them")
    return found


def perform(asked: NotifyDownstream, context: ActionContext) -> Done:
    """Put the notices into the outbox, all or none.

    Raises:
        as `plan`.
    """
    subject = _subject(asked, context)
    by_owner = _by_owner(subject.roots)
    channels = _channels(context, by_owner)
    with write_transaction(context.engine) as connection:
        notified = [
            owner
            for owner, channel in sorted(channels.items())
            if enqueue(
                connection, _notice(asked, context, subject, owner, by_owner[owner]), channel
            )
        ]
    if not notified:
        raise RejectedActionError("nobody to notify: no owner downstream, or notified before")
    return Done(did=(f"notified {', '.join(notified)}",), figures={"notices": len(notified)})


def _subject(asked: NotifyDownstream, context: ActionContext) -> NoticeSubject:
    if (asked.dataset is None) == (asked.incident is None):
        raise InvalidActionError("notify-downstream: expected either `dataset` or `incident`")
    if asked.incident is not None:
        return _of_incident(asked.incident, context)
    found = context.graph.downstream(asked.dataset or "", asked.dataset_namespace)
    named = f"{key(found.namespace, found.name) & 0xFFFF_FFFF_FFFF_FFFF:016x}"
    root = MessageRoot("dataset", found.name, found.namespace)
    return NoticeSubject(
        f"notice/{named}/{context.now}", root, found.name, context.now, named, (found,)
    )


def _of_incident(incident_id: str, context: ActionContext) -> NoticeSubject:
    members = (
        select(dataset.c.namespace, dataset.c.name)
        .join(incident_member, incident_member.c.dataset_key == dataset.c.dataset_key)
        .where(incident_member.c.incident_id == incident_id)
        .where(incident_member.c.steps == 0, incident_member.c.left_at.is_(None))
        .order_by(dataset.c.namespace, dataset.c.name)
        .limit(_MOST_ROOTS)
    )
    with context.engine.connect() as connection:
        row = connection.execute(
            select(incident).where(incident.c.incident_id == incident_id)
        ).one_or_none()
        named = connection.execute(members).all()
    if row is None:
        raise InvalidActionError(f"no incident has the id {incident_id[:80]!r}")
    roots = tuple(context.graph.downstream(name, namespace) for namespace, name in named)
    root = MessageRoot(row.root_entity, row.root_name, row.root_namespace)
    notice = f"notice/{incident_id}/{context.now}"
    return NoticeSubject(notice, root, row.what, row.onset, row.correlation_id, roots)


def _by_owner(roots: Iterable[Downstream]) -> dict[str, list[Affected]]:
    """Return each downstream dataset once, most severe first; without the roots themselves."""
    own = {(root.namespace, root.name) for root in roots}
    each = {(one.namespace, one.name): one for root in roots for one in root.affected}
    by_owner: dict[str, list[Affected]] = {}
    for name, one in sorted(each.items(), key=lambda found: _gravity(found[1])):
        if name not in own:
            by_owner.setdefault(one.owner or _NO_OWNER, []).append(one)
    return by_owner


def _gravity(one: Affected) -> tuple[int, str, str]:
    return [*TIERS, one.tier].index(one.tier), one.namespace, one.name


def _channels(
    context: ActionContext, by_owner: dict[str, list[Affected]]
) -> dict[str, ChannelName]:
    found = {owner: notice_channel(context.policy, owner) for owner in by_owner}
    return {owner: parse_channel(channel) for owner, channel in found.items() if channel}


def _notice(
    asked: NotifyDownstream,
    context: ActionContext,
    subject: NoticeSubject,
    owner: str,
    theirs: list[Affected],
) -> Message:
    tiers = {tier: sum(one.tier == tier for one in theirs) for tier in TIERS}
    listed = [Impacted(one.namespace, one.name, one.tier, one.state) for one in theirs]
    return Message(
        # One row of the outbox for each owner, even where two share a channel.
        incident_id=f"{subject.id}/{key(owner) & 0xFFFF_FFFF:08x}",
        revision=1,
        kind="notice",
        severity="ticket",
        what=subject.what,
        since=subject.since,
        at=context.now,
        root=subject.root,
        owner=owner,
        impacted=tuple(listed[:MAX_LISTED]),
        impacted_count=len(theirs),
        tiers=tuple((tier, count) for tier, count in tiers.items() if count),
        links=MessageLinks(),
        correlation_id=subject.correlation_id,
        note=f"{asked.note} ({context.who})",
        is_answerable=False,
    )
