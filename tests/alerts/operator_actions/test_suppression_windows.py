"""Suppression windows: the names they cover, invalid requests, audit log, begin and end."""

from datetime import datetime

import pytest

from alerts.operator_actions import suppression_windows
from alerts.operator_actions.suppression_windows import (
    SuppressionWindow,
    UnknownWindowError,
    WindowEnding,
    WindowRequest,
    close_window,
    common_window,
    create_window,
    find_windows,
    load_windows,
    record_rejected_window,
)
from lineage.catalog.engine import write_transaction
from lineage.errors import InvalidRequestError, NotNowError
from lineage.policy import parse_policy
from lineage.process.clock import to_micros

POLICY = parse_policy("""
time_zone: Europe/Berlin
suppressions:
  - {name: reload, match: s3://lake/core/*, from: 2026-11-21T08:00:00Z, until: 2026-11-21T20:00:00Z}
  - {name: sundays, match: {namespace: "postgres://*"}, cron: 0 2 * * sun, for: 2h}
""")
DB = "postgres://h:5432"

pytestmark = pytest.mark.postgres_nightly

_HOUR = 3_600_000_000
_DAY = 24 * _HOUR
NOW = 1_790_000_000_000_000


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
    known = suppression_windows.matcher
    monkeypatch.setattr(suppression_windows, "matcher", lambda one: made.append(one) or known(one))
    names = [("s3://lake", f"core/{n}") for n in range(10_000)]

    found = find_windows((), POLICY, names, _at("2026-11-21T09:00:00Z"))

    assert (len(found), set(found)) == (10_000, {("reload", _at("2026-11-21T20:00:00Z"))})
    assert made == ["s3://lake/core/*"]


def _request(**fields):  # noqa: ANN003
    usual = {"pattern": "s3://lake/*", "until": NOW + _HOUR, "by": "ann", "via": "cli"}
    return WindowRequest(**usual | {"reason": "a move"} | fields)


def _audit(catalog):
    with catalog.connect() as connection:
        found = connection.exec_driver_sql(
            "SELECT who, via, action, detail, answer FROM audit ORDER BY id"
        )
        return [tuple(row) for row in found]


def test_a_window_holds_from_now_until_its_end(catalog):
    """Write person, interface and reason into the audit log."""
    with write_transaction(catalog) as connection:
        number = create_window(connection, _request(), NOW)
        held = [load_windows(connection, at) for at in (NOW - 1, NOW, NOW + _HOUR - 1, NOW + _HOUR)]

    window = SuppressionWindow("s3://lake/*", "s3://lake/*", NOW, NOW + _HOUR)
    assert held == [(), (window,), (window,), ()]
    span = "from 2026-09-21 14:13:20 UTC until 2026-09-21 15:13:20 UTC"
    detail = f"window {number}, s3://lake/* {span}: a move"
    assert _audit(catalog) == [("ann", "cli", "suppress_pattern", detail, "done")]


def test_a_planned_window_begins_at_its_begin(catalog):
    """Suppress from the begin, under the name of the window."""
    with write_transaction(catalog) as connection:
        create_window(connection, _request(begin=NOW + 10, name="deployment"), NOW)

        assert load_windows(connection, NOW) == ()
        (window,) = load_windows(connection, NOW + 10)
    assert window.name == "deployment"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"until": None}, "until: missing; an open window would hide things for ever"),
        ({"until": NOW}, "until: 2026-09-21 14:13:20 UTC is in the past"),
        ({"until": NOW + 31 * _DAY}, "until: a window lasts 30 days at most"),
        ({"begin": NOW + 2 * _HOUR}, "is not after from"),
        (
            {"begin": NOW + 400 * _DAY, "until": NOW + 401 * _DAY},
            "is more than 366 days away",
        ),
        ({"pattern": " "}, "pattern: empty"),
        ({"pattern": "a\nb"}, "pattern: holds U\\+000A"),
        ({"pattern": "a\u202eb"}, "pattern: holds U\\+202E"),
        ({"pattern": "x" * 1_001}, "pattern: at most 1000 characters, got 1001"),
        ({"reason": " "}, "reason: missing"),
        ({"reason": "x" * 501}, "reason: at most 500 characters"),
        ({"name": "x" * 501}, "name: at most 500 characters"),
    ],
)
def test_an_invalid_window_is_rejected(catalog, fields, words):
    """Name the invalid part, write an audit row, and suppress nothing."""
    with (
        write_transaction(catalog) as connection,
        pytest.raises(InvalidRequestError, match=words) as rejected,
    ):
        create_window(connection, _request(**fields), NOW)
    with write_transaction(catalog) as connection:
        record_rejected_window(connection, _request(**fields), rejected.value, NOW)
        assert load_windows(connection, NOW) == ()

    ((_, _, _, _, answer),) = _audit(catalog)
    assert answer == f"rejected: {rejected.value}"


@pytest.mark.postgres_always
def test_a_window_is_ended_before_its_end(catalog):
    """End it at once, record the person, and reject a second end."""
    with write_transaction(catalog) as connection:
        number = create_window(connection, _request(), NOW)
        close_window(connection, WindowEnding(number, "bob", "api"), NOW + 5)

        assert load_windows(connection, NOW + 5) == ()
        with pytest.raises(NotNowError, match=f"window {number} ended at 2026-09-21"):
            close_window(connection, WindowEnding(number, "bob", "api"), NOW + 6)
        with pytest.raises(UnknownWindowError, match="no window has the number 77"):
            close_window(connection, WindowEnding(77, "bob", "api"), NOW)
    assert _audit(catalog)[1:] == [("bob", "api", "end_suppression", f"window {number}", "done")]
