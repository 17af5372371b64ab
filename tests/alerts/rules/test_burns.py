from pathlib import Path

from alerts.rules.recordings import EXPLAINED
from tests.alerts.rules.promtool import (
    At,
    ExpectedAlert,
    alert_differences,
    budget,
    judging_budgets_at_once,
    only,
)
from tests.alerts.rules.series import burning, counted, values

BURN = "DatasetFreshnessBurn"
PAGES = ("lineward-burn", "lineward-budgets")
FRESHNESS = {"sli": "freshness", "tier": "critical", "area": "datasets", "owner": "platform"}
ADVICE = "`lineward datasets --state bad` lists the bad datasets with their reasons."
EARLY = (
    "It is too early to know how much of the budget is left: Prometheus has {} of data and needs"
    " 15d."
)


def in_the_last(long: str, share: str, much: str, burn: str, threshold: str) -> str:
    """Return the sentences on one window of the critical freshness.

    `threshold`: severity, burn rate and short window, as `page 14.4 5m`.
    """
    return (
        f"In the last {long}, {share} of the dataset-seconds of freshness (critical) were bad"
        f" and not explained by an incident: {much}. {burned(burn, long, threshold)} "
    )


def burned(burn: str, long: str, threshold: str) -> str:
    """Return the sentences on a burn rate and its threshold."""
    severity, rate, short = threshold.split()
    return (
        f"That uses the error budget of 30d {burn} times as fast as allowed. The threshold of this"
        f" {severity} is a burn rate of {rate} in the last {long} and in the last {short}."
    )


def burns_at(*pairs: str) -> str:
    """Return the summary of an alert of the critical freshness: pairs of burn rate and window."""
    each = zip(pairs[::2], pairs[1::2], strict=True)
    windows = ", ".join(f"{rate} times the allowed rate in the last {long}" for rate, long in each)
    return f"freshness (critical): the error budget burns too fast: {windows}"


def text_of(*windows: str, known: str, since: str = "now") -> str:
    """Return the description of an alert of the critical freshness."""
    rest = "The objective of 0.99 allows 1% to be bad."
    return f"{''.join(windows)}{rest} {EARLY.format(known)} Burning since {since}. {ADVICE}"


FAST_WINDOW = in_the_last("1h", "15%", "5.4k", "15.0", "page 14.4 5m")
FAST = ExpectedAlert(
    BURN,
    {**FRESHNESS, "severity": "page"},
    burns_at("15.0", "1h"),
    text_of(FAST_WINDOW, known="8h 0m 0s"),
)


def freshness(named: tuple[str, ...] = PAGES) -> str:
    """Return the rules of one budget."""
    return only(budget("freshness", "critical"), named=named)


def test_a_fast_burn_pages_in_its_ninth_minute(tmp_path: Path):
    """Page at 9 bad minutes of 60, which are more than 14.4 %; 8 are not."""
    series = burning("freshness", "critical", (420, 0), (25, 1))

    assert alert_differences(tmp_path, freshness(), series, At(428), At(429, (FAST,))) == ""


def test_a_young_deployment_pages_by_amount_and_not_by_share(tmp_path: Path):
    """Judge an hour with 32 minutes of data: five bad minutes are 16 %, nine would be too much.

    Mutant: without what is spent, a share of all there is pages.
    """
    series = burning("freshness", "critical", (27, 0), (25, 1))
    pace = "* sli_tier:lineage_sli:increase5m{"
    shares_alone = freshness().replace(pace, f"* 0 {pace}")

    assert alert_differences(tmp_path, freshness(), series, At(32, names=(BURN,))) == ""
    assert BURN in alert_differences(tmp_path, freshness(), series, At(38, names=(BURN,)))
    assert BURN in alert_differences(tmp_path, shares_alone, series, At(32, names=(BURN,)))


def test_a_window_with_less_than_half_of_its_data_is_skipped(tmp_path: Path):
    """Judge one hour but not six after half an hour in which all is bad.

    Mutant: judged by the data that exist, both windows would page after minutes.
    """
    series = burning("freshness", "critical", (2, 0), (40, 1))
    of_little = freshness().replace(">= 0.5", ">= 0")
    hour = burns_at("92.9", "1h", "92.9", "6h")

    assert alert_differences(tmp_path, freshness(), series, At(28, names=(BURN,))) == ""
    difference = alert_differences(tmp_path, freshness(), series, At(31, names=(BURN,)))
    assert "in the last 1h" in difference
    assert "in the last 6h" not in difference
    assert hour in alert_differences(tmp_path, of_little, series, At(28, names=(BURN,)))


def test_both_windows_of_one_burn_are_one_page(tmp_path: Path):
    """List both windows in one page: over six hours, 22 minutes are more than 6 %."""
    series = burning("freshness", "critical", (420, 0), (25, 1))
    both = ExpectedAlert(
        BURN,
        FAST.labels,
        burns_at("36.7", "1h", "6.1", "6h"),
        text_of(
            in_the_last("1h", "36.67%", "13.2k", "36.7", "page 14.4 5m"),
            in_the_last("6h", "6.111%", "13.2k", "6.1", "page 6 30m"),
            known="8h 0m 0s",
            since="1970-01-01 07:09:00 +0000 UTC",
        ),
    )

    assert alert_differences(tmp_path, freshness(), series, At(442, (both,))) == ""


def test_a_ticket_lists_its_windows_and_burns_over_what_no_incident_explains(tmp_path: Path):
    """Open a ticket for 45 minutes, over 3 % of a day, unless an incident explains them.

    Three days pass quickly at five minutes a step, and without the budget's own group. Forty
    minutes are less than 3 % of a day and 1 % of three.
    """
    spans = ((864, 0), (12, 1))
    series = burning("freshness", "critical", *spans, step=3000)
    explained = burning("freshness", "critical", *spans, explained=True, step=3000)
    ticket = ExpectedAlert(
        BURN,
        {**FRESHNESS, "severity": "ticket"},
        burns_at("3.5", "1d", "1.2", "3d"),
        text_of(
            in_the_last("1d", "3.472%", "30k", "3.5", "ticket 3 2h"),
            in_the_last("3d", "1.157%", "30k", "1.2", "ticket 1 6h"),
            known="less than 60m",
            since="1970-01-04 00:45:00 +0000 UTC",
        ),
    )
    rules = freshness(("lineward-burn", "lineward-tickets"))

    moments = (At(4360, names=(BURN,)), At(4370, (ticket,), (BURN,)))
    assert alert_differences(tmp_path, rules, explained, At(4370, names=(BURN,)), each="5m") == ""
    assert alert_differences(tmp_path, without_pages(rules), series, *moments, each="5m") == ""


def without_pages(rules: str) -> str:
    """Return the rules with pages that never fire: these mute tickets in Alertmanager."""
    return rules.replace('severity="page"})\n', 'severity="page"}) > 1e9\n')


def test_late_events_behind_an_outage_of_lineward_are_explained_by_its_incident(tmp_path: Path):
    """Leave out ten minutes of late events after the pipeline stood for ten minutes.

    Mutant: an incident that is closed explains nothing, and the burn pages beside it.
    """
    rules = only(budget("ingestion_lag", "all"), named=PAGES)
    series = burning("ingestion_lag", "all", (420, 0), (25, 1))
    outage = 'lineage_incident_open{incident="i",root_kind="pipeline",severity="page",owner="p"}'
    series[outage] = "_x412 1x9 stale"
    other = {**series, outage.replace("pipeline", "failed"): series[outage]}
    del other[outage]
    silent = At(440, names=("IngestionLagBurn",))

    assert alert_differences(tmp_path, rules, series, silent) == ""
    assert "IngestionLagBurn" in alert_differences(tmp_path, rules, other, silent)


def test_a_burn_that_is_over_ends_with_its_short_window(tmp_path: Path):
    """End with the short window.

    Mutant: without the short windows, it would page for most of an hour after its end.
    """
    series = burning("freshness", "critical", (420, 0), (20, 1), (20, 0))
    over = At(446, names=(BURN,))
    long_alone = freshness()
    for short, factor in (("5m", "14.4"), ("30m", "6")):
        term = f'ratio_rate{short}{{sli="freshness",tier="critical"}} / 0.01 > {factor}'
        assert term in long_alone
        long_alone = long_alone.replace(term, term.replace(f"> {factor}", "> -1"))

    assert alert_differences(tmp_path, freshness(), series, over) == ""
    assert BURN in alert_differences(tmp_path, long_alone, series, over)


def test_bad_time_in_an_open_incident_pages_nobody(tmp_path: Path):
    """Subtract what an incident explains.

    Mutant: without the subtraction, the burn pages beside the incident.
    """
    series = burning("freshness", "critical", (420, 0), (25, 1), explained=True)
    silent = At(442, names=(BURN,))
    not_taken_off = freshness().replace(EXPLAINED, "lineage_of_no_such_name")

    assert alert_differences(tmp_path, freshness(), series, silent) == ""
    assert 'severity="page"' in alert_differences(tmp_path, not_taken_off, series, silent)


def test_bad_time_outside_an_incident_pages(tmp_path: Path):
    """Page when the half that no incident explains is 9 minutes, after 18."""
    series = burning("freshness", "critical", (420, 0), (25, 1))
    series[counted("explained", "freshness", "critical")] = values((420, 0), (25, 300))
    assert alert_differences(tmp_path, freshness(), series, At(437), At(438, (FAST,))) == ""


def test_few_bad_events_page_nobody(tmp_path: Path):
    """Page for ten rejected events of 600, and not for nine, which are 1.5 %."""
    rules = only(budget("error_rate", "all"), named=PAGES)
    series = burning("error_rate", "all", (420, 0), (25, 0.1), step=10)
    labels = {"sli": "error_rate", "tier": "all", "area": "service", "owner": "platform"}
    page = ExpectedAlert(
        "LineageErrorRateBurn",
        {**labels, "severity": "page"},
        "error_rate: the error budget burns too fast: 16.7 times the allowed rate in the last 1h",
        f"In the last 1h, 1.667% of the events of error_rate were bad: 10."
        f" {burned('16.7', '1h', 'page 14.4 5m')} The objective of 0.999 allows 0.1% to be bad."
        f" {EARLY.format('8h 0m 0s')} Burning since now. `lineward rejected` and `lineward"
        " pipeline-errors` list the failed events.",
    )

    assert alert_differences(tmp_path, rules, series, At(429), At(430, (page,))) == ""


def test_coverage_that_burns_twice_too_fast_goes_to_engineering(tmp_path: Path):
    """Escalate for 2 minutes of 60, which are over 2 %, also beside an open incident."""
    rules = only(budget("coverage", "critical"), named=PAGES)
    series = burning("coverage", "critical", (120, 0), (25, 1), explained=True)
    escalation = ExpectedAlert(
        "ErrorBudgetEscalation",
        {
            **FRESHNESS,
            "sli": "coverage",
            "owner": "data-engineering",
            "severity": "escalation",
        },
        "for engineering: coverage (critical): the error budget burns too fast: 3.3 times the"
        " allowed rate in the last 1h",
        "In the last 1h, 3.333% of the dataset-seconds of coverage (critical) were bad: 1.2k."
        f" {burned('3.3', '1h', 'escalation 2 5m')} The objective of 0.99 allows 1% to be bad."
        f" {EARLY.format('3h 0m 0s')}"
        f" Burning since now. {ADVICE}",
    )

    assert alert_differences(tmp_path, rules, series, At(121), At(122, (escalation,))) == ""


def test_a_budget_too_large_to_burn_fast_alerts_when_it_is_used_up(tmp_path: Path):
    """Alert when 10 % of 15 days are used up, which takes 37 hours of bad optional datasets.

    An hour a step. Mutant: with little data, the first bad hours would use up a month.
    """
    rules = only(budget("freshness", "optional"), named=("lineward-budgets",))
    series = burning("freshness", "optional", (330, 0), (60, 1))
    young = burning("freshness", "optional", (5, 1), (60, 0))
    ticket = ExpectedAlert(
        "ErrorBudgetExhausted",
        {**FRESHNESS, "tier": "optional", "severity": "ticket"},
        "freshness (optional): the error budget of 30d is used up",
        "10.33% of the dataset-seconds of freshness (optional) were bad in 30d. The objective of"
        f" 0.90 allows 10% to be bad. The error budget is used up, since now. {ADVICE}",
    )
    hours = (At(367 * 60), At(368 * 60, (ticket,)))

    assert alert_differences(tmp_path, rules, series, *hours, each="1h") == ""
    assert alert_differences(tmp_path, rules, young, At(600, names=(ticket.name,)), each="1h") == ""
    of_little = rules.replace(">= 0.5", ">= 0")
    assert ticket.name in alert_differences(
        tmp_path, of_little, young, At(600, names=(ticket.name,)), each="1h"
    )


def test_the_budget_left_is_never_negative(tmp_path: Path):
    """Show 0 % and not -900 % of a budget that is overdrawn."""
    series = burning("freshness", "critical", (420, 0), (25, 1))
    of_little = judging_budgets_at_once(freshness())
    text = FAST.description.replace(EARLY.format("8h 0m 0s"), "0% of the budget is left.")

    page = ExpectedAlert(FAST.name, FAST.labels, FAST.summary, text)
    assert alert_differences(tmp_path, of_little, series, At(429, (page,))) == ""
