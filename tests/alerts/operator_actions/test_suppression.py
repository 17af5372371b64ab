"""Faults that planned windows of the catalog and the policy suppress at a time."""

from datetime import datetime

import pytest

from alerts.operator_actions import suppression
from alerts.operator_actions.suppression import SuppressionWindow, common_window, find_windows
from lineage.policy import parse
from lineage.process.clock import to_micros

POLICY = parse("""
time_zone: Europe/Berlin
suppressions:
  - {name: reload, match: s3://lake/core/*, from: 2026-11-21T08:00:00Z, until: 2026-11-21T20:00:00Z}
  - {name: sundays, match: {namespace: "postgres://*"}, cron: 0 2 * * sun, for: 2h}
""")
DB = "postgres://h:5432"


def _at(text):
    return to_micros(datetime.fromisoformat(text))


def _window(name, pattern, begin="2026-11-21T10:00:00Z", until="2026-11-21T12:00:00Z"):
    return SuppressionWindow(name, pattern, _at(begin), _at(until))


@pytest.mark.parametrize(
    ("namespace", "name", "at", "found"),
    [
        ("s3://lake", "core/orders", "2026-11-21T08:00:00Z", ("reload", "2026-11-21T20:00:00Z")),
        ("s3://lake", "core/orders", "2026-11-21T20:00:00Z", None),
        ("s3://lake", "mart/orders", "2026-11-21T09:00:00Z", None),
        # 02:00 in Berlin is 01:00 UTC in winter, and 00:00 in summer.
        (DB, "shop.orders", "2026-11-22T00:59:59Z", None),
        (DB, "shop.orders", "2026-11-22T01:00:00Z", ("sundays", "2026-11-22T03:00:00Z")),
        (DB, "shop.orders", "2026-11-23T01:00:00Z", None),
        (DB, "shop.orders", "2026-07-05T00:00:00Z", ("sundays", "2026-07-05T02:00:00Z")),
        # Spring: 02:00 is left out, so that it begins at 03:00, which is 01:00 UTC.
        (DB, "shop.orders", "2026-03-29T00:59:00Z", None),
        (DB, "shop.orders", "2026-03-29T01:00:00Z", ("sundays", "2026-03-29T03:00:00Z")),
        # Autumn: 02:00 is there twice; it begins with the first one, and only once.
        (DB, "shop.orders", "2026-10-25T00:00:00Z", ("sundays", "2026-10-25T02:00:00Z")),
        (DB, "shop.orders", "2026-10-25T02:30:00Z", None),
    ],
)
def test_the_policys_windows_hide_once_and_by_cron(namespace, name, at, found):
    """Find the end of the window, after which a fault that is still bad opens."""
    [window] = find_windows((), POLICY, [(namespace, name)], _at(at))

    assert window == (found and (found[0], _at(found[1])))


def test_planned_windows_hide_beside_the_policy():
    """Choose the window that ends last of those that match; match a job by its own name."""
    windows = [
        _window("short", "s3://lake/*"),
        _window("jobs", "nightly/*", until="2026-11-21T11:00:00Z"),
        _window("later", "*", begin="2026-11-21T11:30:00Z"),
    ]
    names = [("s3://lake", "core/a"), ("s3://lake", "mart/a"), ("nightly", "etl"), ("x", "y")]

    found = find_windows(windows, POLICY, names, _at("2026-11-21T10:30:00Z"))

    assert found == [
        ("reload", _at("2026-11-21T20:00:00Z")),
        ("short", _at("2026-11-21T12:00:00Z")),
        ("jobs", _at("2026-11-21T11:00:00Z")),
        None,
    ]


def test_a_pattern_matches_as_in_the_policy():
    """Fold a pattern without wildcards like a name; match namespace and name separately."""
    window = [_window("one", "s3a://lake/mart/revenue/")]
    at = _at("2026-11-21T10:30:00Z")

    names = [("s3://lake", "mart/revenue"), ("s3://lake", "mart/revenue2")]
    found, other = find_windows(window, POLICY, names, at)
    assert found
    assert other is None


def test_a_fault_of_several_datasets_is_hidden_while_all_of_them_are():
    """Suppress until the first window ends, and only if each dataset has one."""
    first, second = ("a", 10), ("b", 20)

    assert common_window([second, first]) == first
    assert common_window([first, None]) is None
    assert common_window([]) is None


def test_each_pattern_is_compiled_once(monkeypatch):
    """Compile one pattern for one window and 10,000 roots."""
    made = []
    known = suppression.matcher
    monkeypatch.setattr(suppression, "matcher", lambda one: made.append(one) or known(one))
    names = [("s3://lake", f"core/{n}") for n in range(10_000)]

    found = find_windows((), POLICY, names, _at("2026-11-21T09:00:00Z"))

    assert (len(found), set(found)) == (10_000, {("reload", _at("2026-11-21T20:00:00Z"))})
    assert made == ["s3://lake/core/*"]
