from pathlib import Path

from alerts.rules.recordings import EXPLAINED
from tests.alerts.rules.promtool import At, Told, budget, only, told
from tests.alerts.rules.series import burning, counted, values

BURN = "DatasetFreshnessBurn"
PAGES = ("lineward-burn", "lineward-budgets")
FRESHNESS = {"sli": "freshness", "tier": "critical", "area": "datasets", "owner": "platform"}
FAST = Told(
    BURN,
    {**FRESHNESS, "severity": "page", "window": "1h"},
    "freshness (critical): the error budget burns 15.0 times too fast over 1h",
    "In the last 1h, 15% of the dataset-seconds of freshness (critical) were bad and in no open"
    " incident: 5.4k. The objective of 0.99 lets 1% be bad. That burns the error budget of 30d 15.0"
    " times as fast as it lasts; page above 14.4 over 1h and 5m. -86.92% of the budget is left."
    " Burning since now.",
)


def freshness(named: tuple[str, ...] = PAGES) -> str:
    """The rules of one budget."""
    return only(budget("freshness", "critical"), named=named)


def test_a_fast_burn_pages_in_its_ninth_minute(tmp_path: Path):
    """All is bad after seven good hours: 9 minutes of 60 are more than 14.4 %, 8 are not."""
    series = burning("freshness", "critical", (420, 0), (25, 1))

    assert told(tmp_path, freshness(), series, At(428), At(429, (FAST,))) == ""


def test_an_estate_of_minutes_pages_for_what_it_has_spent_and_not_for_a_share(tmp_path: Path):
    """All bad from its first minute on: 9 minutes of an hour are too much, 8 are not.

    Mutant: without what is spent, a share of all there is pages at once.
    """
    series = burning("freshness", "critical", (2, 0), (25, 1))
    pace = "* sli_tier:lineage_sli:increase5m{"
    shares_alone = freshness().replace(pace, f"* 0 {pace}")
    at = {minute: At(minute, names=(BURN,)) for minute in (5, 10, 13)}

    assert told(tmp_path, freshness(), series, at[5], at[10]) == ""
    assert 'window="1h"' in told(tmp_path, freshness(), series, at[13])
    assert 'window="1h"' in told(tmp_path, shares_alone, series, at[5])


def test_a_slow_burn_pages_in_its_22nd_minute(tmp_path: Path):
    """Over six hours, 22 minutes are more than 6 %; beside it the fast burn goes on."""
    series = burning("freshness", "critical", (420, 0), (25, 1))
    fast = Told(
        BURN,
        FAST.labels,
        "freshness (critical): the error budget burns 36.7 times too fast over 1h",
        "In the last 1h, 36.67% of the dataset-seconds of freshness (critical) were bad and in no"
        " open incident: 13.2k. The objective of 0.99 lets 1% be bad. That burns the error budget"
        " of 30d 36.7 times as fast as it lasts; page above 14.4 over 1h and 5m. -376.2% of the"
        " budget is left. Burning since 1970-01-01 07:09:00 +0000 UTC.",
    )
    slow = Told(
        BURN,
        {**FRESHNESS, "severity": "page", "window": "6h"},
        "freshness (critical): the error budget burns 6.1 times too fast over 6h",
        "In the last 6h, 6.111% of the dataset-seconds of freshness (critical) were bad and in no"
        " open incident: 13.2k. The objective of 0.99 lets 1% be bad. That burns the error budget"
        " of 30d 6.1 times as fast as it lasts; page above 6 over 6h and 30m. -376.2% of the budget"
        " is left. Burning since now.",
    )

    assert told(tmp_path, freshness(), series, At(442, (fast, slow))) == ""


def test_tickets_burn_over_all_that_is_bad(tmp_path: Path):
    """50 minutes are over 3 % of a day and 1 % of three, 40 are not; an incident paged for them.

    Three days pass quickly at ten minutes a step, and without the budget's own group.
    """
    spans = ((432, 0), (6, 1))
    series = burning("freshness", "critical", *spans, explained=True, step=6000)
    texts = (
        ("1d", "3.472%", "3.5", "3", "2h"),
        ("3d", "1.157%", "1.2", "1", "6h"),
    )
    tickets = tuple(
        Told(
            BURN,
            {**FRESHNESS, "severity": "ticket", "window": long},
            f"freshness (critical): the error budget burns {burn} times too fast over {long}",
            f"In the last {long}, {share} of the dataset-seconds of freshness (critical) were bad:"
            " 30k. The objective of 0.99 lets 1% be bad. That burns the error budget of 30d"
            f" {burn} times as fast as it lasts; ticket above {factor} over {long} and {short}. an"
            " unknown share of the budget is left. Burning since now.",
        )
        for long, share, burn, factor, short in texts
    )
    rules = freshness(("lineward-burn", "lineward-tickets"))

    moments = (At(4360), At(4370, tickets))
    assert told(tmp_path, rules, series, *moments, each="10m") == ""


def test_a_burn_that_is_over_ends_with_its_short_window(tmp_path: Path):
    """Mutant: without the short windows, it would page for most of an hour after its end."""
    series = burning("freshness", "critical", (420, 0), (20, 1), (20, 0))
    over = At(446, names=(BURN,))
    long_alone = freshness()
    for short, factor in (("5m", "14.4"), ("30m", "6")):
        term = f'ratio_rate{short}{{sli="freshness",tier="critical"}} / 0.01 > {factor}'
        assert term in long_alone
        long_alone = long_alone.replace(term, term.replace(f"> {factor}", "> -1"))

    assert told(tmp_path, freshness(), series, over) == ""
    assert 'window="1h"' in told(tmp_path, long_alone, series, over)


def test_what_an_open_incident_explains_pages_nobody(tmp_path: Path):
    """Mutant: with nothing taken off, the burn pages beside the incident."""
    series = burning("freshness", "critical", (420, 0), (25, 1), explained=True)
    silent = At(442, names=(BURN,))
    not_taken_off = freshness().replace(EXPLAINED, "lineage_of_no_such_name")

    assert told(tmp_path, freshness(), series, silent) == ""
    assert 'severity="page"' in told(tmp_path, not_taken_off, series, silent)


def test_what_is_bad_beside_an_incident_pages(tmp_path: Path):
    """An incident explains half: the other half is 9 minutes of bad after 18."""
    series = burning("freshness", "critical", (420, 0), (25, 1))
    series[counted("explained", "freshness", "critical")] = values((420, 0), (25, 300))
    description = FAST.description.replace("-86.92%", "-289%")
    half = Told(FAST.name, FAST.labels, FAST.summary, description)

    assert told(tmp_path, freshness(), series, At(437), At(438, (half,))) == ""


def test_few_bad_events_page_nobody(tmp_path: Path):
    """Nine refused events of 600 are 1.5 %, and no reason to wake anybody; ten are."""
    rules = only(budget("error_rate", "all"), named=PAGES)
    series = burning("error_rate", "all", (420, 0), (25, 0.1), step=10)
    labels = {"sli": "error_rate", "tier": "all", "area": "service", "owner": "platform"}
    page = Told(
        "LineageErrorRateBurn",
        {**labels, "severity": "page", "window": "1h"},
        "error_rate: the error budget burns 16.7 times too fast over 1h",
        "In the last 1h, 1.667% of the events of error_rate were bad and in no open incident: 10."
        " The objective of 0.999 lets 0.1% be bad. That burns the error budget of 30d 16.7 times as"
        " fast as it lasts; page above 14.4 over 1h and 5m. -109.8% of the budget is left. Burning"
        " since now.",
    )

    assert told(tmp_path, rules, series, At(429), At(430, (page,))) == ""


def test_coverage_that_burns_twice_too_fast_goes_to_engineering(tmp_path: Path):
    """2 minutes of 60 are more than 2 %, whoever has an incident open for them."""
    rules = only(budget("coverage", "critical"), named=PAGES)
    series = burning("coverage", "critical", (120, 0), (25, 1), explained=True)
    escalation = Told(
        "ErrorBudgetEscalation",
        {
            **FRESHNESS,
            "sli": "coverage",
            "window": "1h",
            "owner": "data-engineering",
            "severity": "escalation",
        },
        "engineering is asked: coverage (critical): the error budget burns 3.3 times too fast over"
        " 1h",
        "In the last 1h, 3.333% of the dataset-seconds of coverage (critical) were bad: 1.2k. The"
        " objective of 0.99 lets 1% be bad. That burns the error budget of 30d 3.3 times as fast as"
        " it lasts; escalation above 2 over 1h and 5m. 17.36% of the budget is left. Burning since"
        " now.",
    )

    assert told(tmp_path, rules, series, At(121), At(122, (escalation,))) == ""


def test_a_budget_too_large_to_burn_fast_is_told_when_it_is_gone(tmp_path: Path):
    """Freshness of optional datasets may be bad for 10 %: gone in 12 minutes, told an hour on."""
    rules = only(budget("freshness", "optional"), named=("lineward-budgets",))
    series = burning("freshness", "optional", (100, 0), (90, 1))
    ticket = Told(
        "ErrorBudgetExhausted",
        {**FRESHNESS, "tier": "optional", "severity": "ticket"},
        "freshness (optional): the error budget of 30d is gone",
        "41.86% of the dataset-seconds of freshness (optional) were bad in 30d. The objective of"
        " 0.90 lets 10% be bad. Of the error budget -318.6% is left, since"
        " 1970-01-01 01:52:00 +0000 UTC.",
    )

    assert told(tmp_path, rules, series, At(171), At(172, (ticket,))) == ""
