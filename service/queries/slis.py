"""SLIs at the last evaluation, each beside its objective, and the rest of each error budget."""

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from alerts.rules.burn_windows import LEAST_OBSERVED
from lineage.catalog.queries import ALL_HOURS
from lineage.catalog.reader import CatalogReader
from lineage.process.clock import SECOND_MICROS, to_micros
from lineage.states import (
    ALL_TIERS,
    IMPACT_ANALYSIS,
    QUERY_LATENCY,
    SLI_BY_ID,
    SLIS,
    UNAUTHORIZED_ACCESS,
)
from service.queries.shapes import SliAnswer, SliRow
from service.queries.timestamps import Evaluated, stale_warning
from service.runtime.settings import Settings

if TYPE_CHECKING:
    from lineage.policy import Policy

MOST_UNKNOWN = 0.05  # of a day: more, and there is no ratio
BUDGET_DAYS = 30
LEAST_DAYS = math.ceil(float(LEAST_OBSERVED) * BUDGET_DAYS)  # of data, before a rest is known
_LEAST_SECONDS = float(LEAST_OBSERVED) * BUDGET_DAYS * 86_400

ObjectiveRatios = Mapping[tuple[str, str], float]  # by SLI and tier

_NOW = "SELECT sli, tier, SUM(good), SUM(total) FROM sli_now GROUP BY sli, tier"
# What the service itself served: of the last 24 hours, as the pipeline's events are.
_SERVED = """
SELECT sli, tier, SUM(good), SUM(total) FROM served_hour WHERE hour > :since GROUP BY sli, tier
"""
_DAY = f"""
SELECT sli, tier, SUM(unknown), SUM(total) FROM {ALL_HOURS}
WHERE hour >= :since GROUP BY sli, tier
"""  # noqa: S608 - a constant
# Their figures do not rest on an evaluation: a stale one hides none of them.
_OF_THE_SERVICE = (QUERY_LATENCY.id, IMPACT_ANALYSIS.id, UNAUTHORIZED_ACCESS.id)
_WINDOW = f"""
SELECT sli, tier, SUM(good) AS good, SUM(total) AS total, SUM(unknown) AS unknown,
  MIN(hour) AS first_hour
FROM {ALL_HOURS} WHERE hour >= :since GROUP BY sli, tier
"""  # noqa: S608 - a constant


def sli_name(sli: str) -> str:
    """Return the usual name of an SLI: `M1` is coverage."""
    known = SLI_BY_ID.get(sli)
    return known.name if known else sli


def list_slis(
    reader: CatalogReader, evaluated: Evaluated, objectives: ObjectiveRatios, *, now: datetime
) -> SliAnswer:
    """Return every SLI of every tier; the ratio is null without a current sample.

    That is: nothing to count, over 5 % of the day unknown, or, where the figure rests on an
    evaluation, one that is stale.
    """
    day = {"since": to_micros(now - timedelta(days=1))}
    counts = [*reader.rows(_NOW), *reader.rows(_SERVED, day)]
    counted = {(sli, tier): (good, total) for sli, tier, good, total in counts}
    hidden = mostly_unknown(reader, now)
    ids = counted.keys() | _expected()
    rows = [
        _row(
            id_,
            counted.get(id_, (0, 0)),
            objectives,
            hidden=id_ in hidden or _rests(id_, evaluated),
        )
        for id_ in sorted(ids, key=_order)
    ]
    reason = stale_warning(evaluated) if evaluated.stale else None
    return SliAnswer(rows, evaluated.at, evaluated.stale, evaluated.stale, reason)


def is_met(row: SliRow) -> bool | None:
    """Return whether the objective is met; None without an objective or without data."""
    if row.ratio is None or row.objective is None:
        return None
    return row.ratio >= row.objective


def _rests(id_: tuple[str, str], evaluated: Evaluated) -> bool:
    return evaluated.stale and id_[0] not in _OF_THE_SERVICE


def mostly_unknown(reader: CatalogReader, now: datetime) -> set[tuple[str, str]]:
    """Return SLIs and tiers with too much unknown in the last day for a ratio."""
    since = to_micros(now - timedelta(days=1))
    rows = reader.rows(_DAY, {"since": since})
    return {(sli, tier) for sli, tier, lost, sure in rows if lost > MOST_UNKNOWN * (lost + sure)}


def _expected() -> set[tuple[str, str]]:
    """Return the SLIs to show before any data exists, with "no data"."""
    return {(sli.id, tier) for sli in SLIS for tier in sli.tiers}


def _order(id_: tuple[str, str]) -> tuple[int, int, str]:
    sli, tier = id_
    known = SLI_BY_ID[sli]
    return SLIS.index(known), [*known.tiers, tier].index(tier), tier


def _row(
    id_: tuple[str, str], counts: tuple[float, float], objectives: ObjectiveRatios, *, hidden: bool
) -> SliRow:
    sli, tier = id_
    good, total = counts
    return SliRow(
        id=sli,
        name=sli_name(sli),
        tier=tier or ALL_TIERS,
        good=good,
        total=total,
        ratio=None if hidden or not total else good / total,
        objective=objectives.get(id_),
    )


def read_objectives(settings: Settings) -> ObjectiveRatios:
    """Return the objectives for a command, which asks once and reads the file by itself.

    Raises:
        RejectedInputError: the policy file is wrong.
    """
    if settings.policy is None:
        return objectives_of(None)
    from service.runtime.policies import read_accepted_policy  # noqa: PLC0415 - YAML only where a policy is

    return objectives_of(read_accepted_policy(settings))


def objectives_of(policy: "Policy | None") -> ObjectiveRatios:
    """Return the ratio 0-1 by SLI and tier; what nobody asks for is left out."""
    asked = [(sli, tier) for sli in SLIS for tier in sli.tiers]
    found = {
        (sli.id, tier): sli.objective(tier) if policy is None else policy.objective(sli, tier)
        for sli, tier in asked
    }
    return {id_: float(ratio) for id_, ratio in found.items() if ratio is not None}


class BudgetLeft(msgspec.Struct, frozen=True):
    """Rest of one error budget.

    Attributes:
        ratio: 1 untouched, 0 used up, below 0 overdrawn; null while there is too little data.
    """

    ratio: float | None


def budgets_left(
    reader: CatalogReader, objectives: ObjectiveRatios, now: datetime
) -> dict[tuple[str, str], BudgetLeft]:
    """Return what is left over 30 days, by SLI and tier.

    Left out: what has no objective, one of 1 (which lets nothing be bad), no sample, and what is
    mostly unknown. With data of less than half the period there is no ratio: as in
    `alerts.rules.recordings`, ten bad minutes are no month that is overdrawn 20 times.
    """
    since = to_micros(now - timedelta(days=BUDGET_DAYS))
    found = {}
    for row in reader.rows(_WINDOW, {"since": since}):
        allowed = 1 - objectives.get((row.sli, row.tier), 1.0)
        total = row.total
        if allowed > 0 and total and row.unknown <= MOST_UNKNOWN * (row.unknown + total):
            observed = (to_micros(now) - row.first_hour) / SECOND_MICROS
            ratio = 1 - (1 - row.good / total) / allowed if observed >= _LEAST_SECONDS else None
            found[row.sli, row.tier] = BudgetLeft(ratio)
    return found
