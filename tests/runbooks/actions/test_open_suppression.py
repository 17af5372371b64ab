from datetime import timedelta

import pytest

from runbooks.actions.errors import InvalidActionError
from tests.runbooks.actions.acting import NOW
from tests.service import shop

DAY = timedelta(days=1)


def _at(days: float) -> str:
    return (NOW + days * DAY).isoformat()


def _window(**more: str):
    return {"pattern": "s3://shop/core/*", "until": _at(0.25), "reason": "reload", **more}


def test_a_planned_window_lists_its_datasets_and_changes_nothing(world):
    """Open it from now by default, for the datasets that match now."""
    world.insert("dataset", *map(shop.dataset_row, shop.NAMES))
    before = world.everything()
    plan = world.plan("open-suppression", **_window())

    expected = "2026-11-21 12:00:00 UTC to 2026-11-21 18:00:00 UTC: 1 datasets and 0 jobs match now"
    assert plan.does == (f"open a window for s3://shop/core/*, {expected}",)
    assert plan.figures == {"datasets": 1, "jobs": 0, "seconds": 21_600}
    assert world.everything() == before


def test_a_window_is_stored_with_its_author_and_reason(world):
    """Begin now where the window would have begun before."""
    world.insert("dataset", *map(shop.dataset_row, shop.NAMES))
    world.act("open-suppression", **_window(from_=_at(-1), name="november"))

    with world.engine.connect() as connection:
        (row,) = connection.exec_driver_sql(
            "SELECT name, pattern, from_at, until_at, by, via, reason, created_at, ended_at"
            " FROM suppression"
        ).all()
    until = world.now + 21_600_000_000
    expected = ("november", "s3://shop/core/*", world.now, until, "ann", "cli", "reload", world.now)
    assert tuple(row) == (*expected, None)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"until": _at(0)}, "is over"),
        ({"until": _at(31)}, "30 days at most"),
        ({"from_": _at(400), "until": _at(401)}, "366 days away"),
        ({"from_": _at(0.5)}, "not after from"),
        ({"pattern": "  "}, "pattern: is empty"),
        ({"pattern": "a\u202eb"}, "U\\+202E"),
        ({"reason": " "}, "reason: is empty"),
        ({"reason": "x" * 501}, "reason"),
        ({"until": "2026-11-21T18:00:00"}, "until"),
        ({"until": "9999-12-31T23:59:59-14:00"}, "until: expected a time of the years"),
        ({"until": "0001-01-01T00:00:00+14:00"}, "until: expected a time of the years"),
        ({"from_": "9999-12-31T23:59:59-14:00"}, "from: expected a time of the years"),
    ],
)
def test_an_endless_or_invalid_window_is_rejected(world, wrong, message):
    """Reject it, planned or done."""
    for is_dry in (True, False):
        with pytest.raises(InvalidActionError, match=message):
            world.act("open-suppression", is_dry=is_dry, **_window(**wrong))
    with world.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM suppression").scalar() == 0


def test_a_window_over_everything_has_a_warning(world):
    """Warn in the plan: most likely it is a typing error."""
    everything = world.plan("open-suppression", **_window(pattern="*"), allow_no_match=True)

    assert "it hides every dataset there is" in everything.cautions


def test_a_pattern_that_matches_nothing_is_rejected(world):
    """Reject the plan too, and open no window: the last part of a name is no pattern.

    Mutant: without the check, the window opens and hides nothing.
    """
    world.insert("dataset", *map(shop.dataset_row, shop.NAMES))
    last_part = _window(pattern="orders")
    for carry_out in (world.plan, world.act):
        with pytest.raises(InvalidActionError, match="pattern: no dataset or job matches now"):
            carry_out("open-suppression", **last_part)

    cautions = world.plan("open-suppression", **last_part, allow_no_match=True).cautions
    assert any("a pattern covers namespace and name" in each for each in cautions)
    assert world.act("open-suppression", **last_part, allow_no_match=True).done.is_whole


def test_a_pattern_of_jobs_alone_is_accepted(world):
    """Count the jobs that wrote a dataset last: a window hides faults of jobs too."""
    world.insert(
        "dataset_activity",
        {
            "dataset_key": 1,
            "writes": 1,
            "learned_writes": 0,
            "last_job_namespace": "jobs",
            "last_job_name": "etl_orders",
        },
    )
    plan = world.plan("open-suppression", **_window(pattern="jobs/etl*"))

    assert plan.figures == {"datasets": 0, "jobs": 1, "seconds": 21_600}
