"""Small truths, and messages about them."""

import msgspec

from lab.gameday import scorer
from lab.gameday.fake_receivers import ReceivedMessage
from lab.gameday.score_shapes import FaultScore
from lab.gameday.truth_shapes import Fault, NamePattern, Truth

SECOND = 1_000_000
LAKE = "s3://lake"
ORDERS = NamePattern(LAKE, "core/orders")
CLEAN = NamePattern("shop", "clean_orders")
REVENUE, TRENDS, STOCK = (
    NamePattern(LAKE, f"mart/{each}") for each in ("revenue", "trends", "stock")
)
KILLED = Fault(
    kind="killed_job",
    expect="page",
    causes=(CLEAN, ORDERS),
    owners=("shop",),
    impact=(REVENUE, TRENDS),
    behind=(NamePattern("shop", "build_revenue"),),
    starts_at=1_000 * SECOND,
    ends_at=5_000 * SECOND,
    over_at=6_000 * SECOND,
)
TICKET = msgspec.structs.replace(
    KILLED,
    kind="schema_drift",
    expect="ticket",
    causes=(STOCK,),
    owners=("store",),
    impact=(),
    behind=(),
)
BACKFILL = msgspec.structs.replace(TICKET, kind="backfill", expect="silence")
LISTS = {"all": {ORDERS, REVENUE, TRENDS}, "half": {ORDERS, REVENUE, STOCK}, "wrong": {CLEAN}}


RIGHT = FaultScore(
    kind="killed_job",
    detected=True,
    expect="page",
    seconds_to_delivery=60.0,
    seconds_to_resolved=60.0,
    pages=1,
    root_right=True,
    owner_right=True,
    impact_precision=1.0,
    impact_recall=1.0,
)
UNDETECTED = FaultScore(
    kind="killed_job",
    detected=False,
    expect="page",
    seconds_to_delivery=None,
    seconds_to_resolved=None,
    pages=0,
    root_right=False,
    owner_right=None,
    impact_precision=None,
    impact_recall=None,
)


def truth(*faults: Fault, standing=()):
    return Truth(
        seed=7,
        datasets=100,
        days=30,
        starts_at=0,
        judged_from=500 * SECOND,
        ends_at=9_000 * SECOND,
        faults=faults,
        standing=standing,
    )


def message(second, what="page", root=CLEAN, **changed: object):
    by = "webhook" if what == "ticket" else "pagerduty"
    given = {"by": by, "to": "keys/shop", "incident": "i1", "owner": "shop", "full_list": "all"}
    return ReceivedMessage(at=second * SECOND, what=what, root=root, **given | changed)


def score(faults, messages, baseline=()):
    return scorer.score(truth(*faults), messages, baseline, lambda link, _at: LISTS[link])
