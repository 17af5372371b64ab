"""Public holidays of calendars, and those that `policy suggest` proposes."""

from datetime import UTC, date, datetime, timedelta

import pytest

from lineage.catalog import tables
from lineage.catalog.engine import write_transaction
from lineage.names.keys import key
from lineage.policy import PolicyError, decide_policy, parse_policy
from lineage.policy.public_holidays import dates_of, fit
from lineage.policy.suggest import suggest_policy
from lineage.process.clock import to_micros

FIRST, LAST = date(2026, 1, 5), date(2026, 11, 20)
WORKDAYS = [
    day
    for day in (FIRST + timedelta(days=n) for n in range((LAST - FIRST).days + 1))
    if day.weekday() < 5
]
BERLIN = frozenset(dates_of("DE-BE"))


def _days(dates):
    return [(day - date(1970, 1, 1)).days for day in dates]


def _calendar(**fields: object):
    lines = "".join(f", {name}: {value}" for name, value in fields.items())
    return parse_policy(f"calendars: [{{name: a{lines}}}]").calendars[0]


@pytest.mark.parametrize(
    ("place", "day"),
    [("US", date(2026, 11, 26)), ("DE-BE", date(2026, 3, 8)), ("XNYS", date(2026, 4, 3))],
)
def test_a_calendar_names_a_country_a_part_of_one_or_an_exchange(place, day):
    """Find Thanksgiving, Berlin's Women's Day, and Good Friday of New York's exchange."""
    assert day in _calendar(public_holidays=f"[{place}]").dates()


def test_a_calendar_joins_its_own_holidays_to_the_public_ones():
    """Move the public ones alone by a day, for a feed that publishes on the next day."""
    given = {"holidays": "[2026-12-24]", "public_holidays": "[US]", "days_later": 1}

    dates = _calendar(**given).dates()

    assert {date(2026, 12, 24), date(2026, 11, 27)} <= set(dates)
    assert date(2026, 11, 26) not in dates


@pytest.mark.parametrize("place", ["Germany", "DE-", "DE-ZZ", "XX", "de"])
def test_an_unknown_place_is_an_error(place):
    """Reject it: each holiday would alert."""
    problem = rf"lineward.yaml:1: \$\.calendars\[0\]: no public holidays are known of '{place}'"

    with pytest.raises(PolicyError, match=problem):
        _calendar(public_holidays=f"[{place}]")


@pytest.mark.parametrize("days_later", [0, 1])
def test_a_country_is_found_by_the_days_without_a_write(days_later):
    """Find nothing else: weekends are no working days of this dataset."""
    off = {day + timedelta(days=days_later) for day in dates_of("US")}

    found = fit(_days(day for day in WORKDAYS if day not in off))

    assert (found.country, found.days_later) == ("US", days_later)
    assert found.kept == found.holidays > 5


@pytest.mark.parametrize(
    "missed",
    [
        [],
        WORKDAYS[20:22],
        WORKDAYS[20:35],
        WORKDAYS[7::23],
        [day for day in WORKDAYS if day in BERLIN][:2],
    ],
    ids=["none", "outage", "long outage", "now and then", "two holidays"],
)
def test_other_days_without_a_write_are_no_holidays(missed):
    """Expect none by chance: some 200 countries have a holiday on nearly any day."""
    assert fit(_days(day for day in WORKDAYS if day not in missed)) is None


def test_a_dataset_that_is_rarely_written_keeps_no_holidays():
    """Ignore Monday's dataset, which has no write on most holidays, as on most other days."""
    assert fit(_days(WORKDAYS[::5])) is None
    assert fit([]) is None
    assert fit(_days(WORKDAYS[:30])) is None


def test_a_draft_proposes_the_calendar_of_datasets_with_holidays(catalog):
    """Keep holidays in two datasets below one prefix, and write the third on them too."""
    written = {
        "mart.a": [day for day in WORKDAYS if day not in BERLIN],
        "mart.b": [day for day in WORKDAYS if day not in BERLIN],
        "core.c": WORKDAYS,
    }
    with write_transaction(catalog) as connection:
        for name, days in written.items():
            dataset_key = key("shop", name)
            row = {"dataset_key": dataset_key, "canonical_key": dataset_key, "namespace": "shop"}
            seen = {"first_seen_at": 1, "last_seen_at": 1, "landed_at": 1}
            connection.execute(tables.dataset.insert(), {**row, "name": name, **seen})
            connection.execute(tables.dataset_write.insert(), _writes(dataset_key, days))

    text = suggest_policy(catalog)
    policy = parse_policy(text)

    found = {name: decide_policy(policy, "shop", name).calendar for name in written}
    assert found == {"mart.a": "holidays of DE", "mart.b": "holidays of DE", "core.c": None}
    assert policy.calendars[0].public_holidays == ("DE",)
    assert "2 datasets without a write on public holidays (best: " in text


def _writes(dataset_key, days):
    flags = {"names_input": True, "is_reported": True, "is_streaming": False, "is_history": False}
    job = {"bucket": 0, "job_key": 1, "job_namespace": "shop", "job_name": "j", "landed_at": 1}
    return [
        {
            "dataset_key": dataset_key,
            "root_run_id": str(day),
            "written_at": to_micros(datetime(day.year, day.month, day.day, 6, tzinfo=UTC)),
            **job,
            **flags,
        }
        for day in days
    ]
