"""Figures of the scorer apart from faults: false messages, unknown seconds, the baseline."""

import msgspec
import pytest

from lab.gameday import scorer
from lab.gameday.score_shapes import BaselineScore
from tests.lab.gameday.truths import (
    BACKFILL,
    KILLED,
    ORDERS,
    REVENUE,
    SECOND,
    STOCK,
    TRENDS,
    message,
    score,
    truth,
)


def test_standing_gaps_are_notified_as_tickets():
    """Count a page as false, and a ticket for a gap that nobody reported as correct."""
    given = truth(KILLED, standing=(STOCK,))
    messages = [
        message(2_000, "ticket", STOCK),
        message(2_000, "ticket", REVENUE),
        message(2_000, root=STOCK),
    ]

    assert scorer.false_tickets(given, messages) == [messages[1]]
    assert scorer.false_pages(given, messages) == [messages[2]]


def test_the_baseline_is_one_alert_for_each_bad_dataset():
    """Count three alerts for one fault, the first of them downstream, and one without a fault."""
    alerts = [
        message(1_030, root=REVENUE, by="baseline", owner="finance"),
        message(1_040, root=ORDERS, by="baseline", owner="shop"),
        message(1_050, root=TRENDS, by="baseline", owner="finance"),
        message(7_000, root=STOCK, by="baseline", owner="store"),
    ]

    assert score([KILLED, BACKFILL], [], alerts).baseline == BaselineScore(
        pages=4,
        false_pages=3,
        detected=1.0,
        pages_a_fault=3.0,
        root_right=0.0,
        owner_right=pytest.approx(1 / 3),
    )


def test_seconds_in_unknown_are_counted_outside_ingestion_faults():
    """Count none of 1,000 s from 800 on: 200 lie before an outage, 300 behind it; 500 teach."""
    outage = msgspec.structs.replace(
        KILLED, kind="collector_outage", starts_at=1_000 * SECOND, over_at=1_500 * SECOND
    )
    spells = [(800 * SECOND, 1_800 * SECOND), (0, 600 * SECOND)]

    assert scorer.unknown_seconds(truth(outage, KILLED), spells) == 200 + 300 + 100


def test_the_form_of_its_json():
    """Print as it was requested, with the name."""
    found = msgspec.to_builtins(score([KILLED], []))

    assert list(found) == [
        *("seed", "datasets", "days", "faults", "false_pages", "baseline"),
        *("wall_seconds", "peak_rss_bytes"),
    ]
    assert list(found["faults"][0]) == [
        *("kind", "detected", "expect", "seconds_to_delivery", "seconds_to_resolved", "pages"),
        *("root_right", "owner_right", "impact_precision", "impact_recall"),
    ]
