"""Planned windows: invalid requests, audit log, begin and end."""

import pytest

from alerts.operator_actions.suppression import SuppressionWindow
from alerts.operator_actions.suppression_windows import (
    UnknownWindowError,
    WindowEnding,
    WindowRequest,
    close_window,
    create_window,
    load_windows,
    record_rejection,
)
from lineage.catalog.engine import write_transaction
from lineage.errors import InvalidRequestError, NotNowError

pytestmark = pytest.mark.postgres_nightly

_HOUR = 3_600_000_000
_DAY = 24 * _HOUR
NOW = 1_790_000_000_000_000


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
        record_rejection(connection, _request(**fields), rejected.value, NOW)
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
