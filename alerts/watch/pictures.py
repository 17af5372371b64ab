"""What a message can say of an incident: who is hurt, the gravest first, and whose they are."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
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


def pictures(
    connection: Connection, found: Sequence[tuple[Incident, Finding]]
) -> dict[str, Picture]:
    """By id, of incidents whose fault is found now.

    Of all at once: an estate that is seen for the first time may have thousands.
    """
    gravest = [_gravest(finding.impact) for _, finding in found]
    owners = _owners(connection, set().union(*gravest))
    hurt = [_Hurt(each, keys, owners) for (_, each), keys in zip(found, gravest, strict=True)]
    known = named(connection, set().union(*(each.told for each in hurt)))
    firsts = _first_differences(connection, [incident.id for incident, _ in found])
    return {
        incident.id: _picture(incident, finding, _Shown(theirs, known), firsts.get(incident.id))
        for (incident, finding), theirs in zip(found, hurt, strict=True)
    }


def _picture(incident: Incident, finding: Finding, shown: "_Shown", first: str | None) -> Picture:
    root, hurt = incident.root, shown.hurt
    return Picture(
        incident=incident,
        what=what(root, finding.name, len(incident.members)),
        root=Root(
            root.name if root.entity == "service" else root.entity, finding.name, finding.namespace
        ),
        impacted=shown.listed(hurt.gravest),
        impacted_count=len(hurt.gravest),
        tiers=hurt.tiers(hurt.gravest),
        by_owner=shown.by_owner(incident.members),
        first_difference=first,
        dataset=shown.first,
        runbook=root.kind,
        correlation_id=incident.id,
        is_bridged=finding.cluster is not None and finding.cluster.is_bridged,
        hidden_by=finding.found.hidden_by,
    )


class _Hurt:
    """The datasets of an impact, the gravest first, and whose they are."""

    def __init__(self, finding: Finding, gravest: list[int], owners: Owners) -> None:
        self._tiers = _tiers(finding.impact)
        self.gravest = gravest
        self.own = sorted(finding.found.root_keys)[:1]
        self.theirs: dict[str, list[int]] = defaultdict(list)
        for key in gravest:
            if (owner := owners.get(key)) is not None:
                self.theirs[owner].append(key)

    @property
    def told(self) -> set[int]:
        """Those that are told by name."""
        theirs = (keys[:MAX_LISTED] for keys in self.theirs.values())
        return {*self.own, *self.gravest[:MAX_LISTED]}.union(*theirs)

    def tiers(self, keys: Iterable[int]) -> tuple[tuple[str, int], ...]:
        """How many there are of each, the highest first."""
        counts = Counter(self._tiers[key] for key in keys)
        return tuple((tier, counts[tier]) for tier in TIERS if counts[tier])


class _Shown(msgspec.Struct, frozen=True, eq=False):
    """The same, by name as far as they are told."""

    hurt: _Hurt
    named: Mapping[int, Named]

    @property
    def first(self) -> tuple[str, str] | None:
        """Of the root's own datasets."""
        return next((_name(self.named[key]) for key in self.hurt.own if key in self.named), None)

    def listed(self, keys: Iterable[int]) -> tuple[Impacted, ...]:
        """The first ten, with how they are and when they are past their limit."""
        known = (self.named[key] for key in keys if key in self.named)
        return tuple(map(_impacted, islice(known, MAX_LISTED)))

    def by_owner(self, bad: frozenset[int]) -> dict[str, Theirs]:
        """What each owner has of it."""
        return {
            owner: Theirs(
                self.listed(keys), len(keys), self.hurt.tiers(keys), bad.intersection(keys)
            )
            for owner, keys in self.hurt.theirs.items()
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


def _owners(connection: Connection, keys: Iterable[int]) -> Owners:
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


def _first_differences(connection: Connection, incident_ids: list[str]) -> dict[str, str | None]:
    table, found = tables.incident, dict[str, str | None]()
    for piece in pieces(incident_ids):
        rows = connection.execute(
            select(table.c.incident_id, table.c.diagnosis).where(
                table.c.incident_id.in_(piece), table.c.diagnosis.is_not(None)
            )
        )
        found |= {row[0]: msgspec.json.decode(row[1], type=_Told).first for row in rows}
    return found
