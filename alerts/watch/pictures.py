"""What a message can say of an incident: who is hurt, the gravest first, and whose they are."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice

import msgspec
import numpy as np
from sqlalchemy import Connection, bindparam, select, text

from alerts.delivery.message import MAX_LISTED, Impacted, Root
from alerts.incidents.incident import Incident
from alerts.incidents.severity import Impact
from alerts.routing.picture import Picture, Theirs
from alerts.watch.finding import Finding
from alerts.watch.named import Named, named
from alerts.watch.words import what
from lineage.catalog import tables
from lineage.catalog.pieces import pieces
from lineage.states import TIERS

_OWNED = text(
    "SELECT dataset_key, owner FROM dataset_policy WHERE owner IS NOT NULL AND dataset_key IN :keys"
).bindparams(bindparam("keys", expanding=True))

Owners = Mapping[int, str]


def picture(connection: Connection, incident: Incident, finding: Finding) -> Picture:
    """Of an incident whose fault is found now."""
    hurt = _Hurt(connection, finding)
    root = incident.root
    return Picture(
        incident=incident,
        what=what(root, finding.name, len(incident.members)),
        root=Root(
            root.name if root.entity == "service" else root.entity, finding.name, finding.namespace
        ),
        impacted=hurt.listed(hurt.gravest),
        impacted_count=len(hurt.gravest),
        tiers=hurt.tiers(hurt.gravest),
        by_owner=hurt.by_owner(incident.members),
        first_difference=_first_difference(connection, incident.id),
        dataset=hurt.first,
        runbook=root.kind,
        correlation_id=incident.id,
        is_bridged=finding.cluster is not None and finding.cluster.is_bridged,
        hidden_by=finding.found.hidden_by,
    )


class _Hurt:
    """The datasets of an impact, by name as far as they are told."""

    def __init__(self, connection: Connection, finding: Finding) -> None:
        self._tiers = _tiers(finding.impact)
        self.gravest = _gravest(finding.impact)
        self._owners = _owners(connection, self.gravest)
        self._theirs: dict[str, list[int]] = defaultdict(list)
        for key in self.gravest:
            if (owner := self._owners.get(key)) is not None:
                self._theirs[owner].append(key)
        own = sorted(finding.found.root_keys)[:1]
        told = {*own, *self.gravest[:MAX_LISTED]}
        told |= {key for keys in self._theirs.values() for key in keys[:MAX_LISTED]}
        self._named = named(connection, told)
        self.first = next((_name(self._named[key]) for key in own if key in self._named), None)

    def listed(self, keys: Iterable[int]) -> tuple[Impacted, ...]:
        """The first ten, with how they are and when they are past their limit."""
        known = (self._named[key] for key in keys if key in self._named)
        return tuple(map(_impacted, islice(known, MAX_LISTED)))

    def tiers(self, keys: Iterable[int]) -> tuple[tuple[str, int], ...]:
        """How many there are of each, the highest first."""
        counts = Counter(self._tiers[key] for key in keys)
        return tuple((tier, counts[tier]) for tier in TIERS if counts[tier])

    def by_owner(self, bad: frozenset[int]) -> dict[str, Theirs]:
        """What each owner has of it."""
        return {
            owner: Theirs(self.listed(keys), len(keys), self.tiers(keys), bad.intersection(keys))
            for owner, keys in self._theirs.items()
        }


def _gravest(hurt: Impact | None) -> list[int]:
    """By tier, then by how near they are, then by key."""
    if hurt is None:
        return []
    keys: list[int] = hurt.keys[np.lexsort((hurt.keys, hurt.hops, hurt.tiers))].tolist()
    return keys


def _tiers(hurt: Impact | None) -> dict[int, str]:
    if hurt is None:
        return {}
    return {
        key: TIERS[tier] for key, tier in zip(hurt.keys.tolist(), hurt.tiers.tolist(), strict=True)
    }


def _owners(connection: Connection, keys: list[int]) -> Owners:
    found: dict[int, str] = {}
    for piece in pieces(keys):
        rows = connection.execute(_OWNED, {"keys": piece})
        found |= {row.dataset_key: row.owner for row in rows}
    return found


def _name(one: Named) -> tuple[str, str]:
    return one.namespace, one.name


def _impacted(one: Named) -> Impacted:
    return Impacted(one.namespace, one.name, one.tier, one.state, one.limit_at)


class _Told(msgspec.Struct, frozen=True):
    """Of a diagnosis, what messages say."""

    first: str | None = None


def _first_difference(connection: Connection, incident_id: str) -> str | None:
    mine = tables.incident.c.incident_id == incident_id
    told = connection.scalar(select(tables.incident.c.diagnosis).where(mine))
    return None if told is None else msgspec.json.decode(told, type=_Told).first
