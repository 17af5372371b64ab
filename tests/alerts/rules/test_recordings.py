from pathlib import Path

import pytest

from alerts.rules.budgets import SUBJECTS
from lineage.states import SLIS
from tests.alerts.rules.promtool import asked, budget, only
from tests.alerts.rules.series import burning, counted, values

LABELS = '{sli="coverage",tier="critical"}'


def coverage() -> str:
    """Return the rules of one budget."""
    return only(budget("coverage", "critical"))


def test_tier_origins_and_epochs_are_summed(tmp_path: Path):
    """Sum a restored catalog's new epoch, which starts lower, without a fall."""
    series = {
        counted("total", "coverage", "critical"): "0+600x30 stale",
        counted("good", "coverage", "critical"): "0+540x30 stale",
        counted("total", "coverage", "critical", epoch="e2"): "_x31 9000+600x60",
        counted("good", "coverage", "critical", epoch="e2"): "_x31 8000+540x60",
        counted("total", "coverage", "critical", origin="inherited"): "0+600x90",
        counted("good", "coverage", "critical", origin="inherited"): "0+600x90",
    }
    ratio = f"sli_tier:lineage_sli_bad:ratio_rate5m{LABELS}"

    # 60 of 1,200 a minute.
    assert asked(tmp_path, coverage(), series, 80, ratio, f"{ratio} 0.05") == ""


def test_the_budget_left_is_what_is_not_spent_of_30_days(tmp_path: Path):
    """Keep half if half of 1 % was bad, once half of the period has data.

    One step is an hour.
    """
    series = burning("coverage", "critical", (380, 0.005))
    left = f"sli_tier:lineage_error_budget_left:ratio30d{LABELS}"
    rules = only(budget("coverage", "critical"), named=("lineward-budgets",))

    query = f"round({left}, 0.0001)"
    assert asked(tmp_path, rules, series, 358 * 60, query, each="1h") == ""
    assert asked(tmp_path, rules, series, 360 * 60, query, f"{LABELS} 0.5", each="1h") == ""


@pytest.mark.parametrize(
    "recorded",
    [
        "sli_tier:lineage_sli_bad:ratio_rate1h",
        "sli_tier:lineage_sli_unexplained:ratio_rate1h",
        "sli_tier:lineage_error_budget_left:ratio30d",
    ],
)
def test_no_counts_give_no_ratio(tmp_path: Path, recorded: str):
    """Return no sample, neither 100 % nor 0 %."""
    series = burning("coverage", "critical", (60, 0), step=0)

    assert asked(tmp_path, coverage(), series, 59, recorded) == ""


def test_nothing_explained_is_all_unexplained(tmp_path: Path):
    """Treat a missing counter of explained time as 0."""
    series = burning("coverage", "critical", (60, 0.1))
    ratio = "sli_tier:lineage_sli_unexplained:ratio_rate5m"
    query, rounded = f"round({ratio}, 0.0001)", f"{LABELS} "
    explained = 'lineage_sli_explained_total{sli="coverage",tier="critical",epoch="e1"}'

    assert asked(tmp_path, coverage(), series, 59, query, f"{rounded}0.1") == ""
    series[explained] = values((60, 30))
    assert asked(tmp_path, coverage(), series, 59, query, f"{rounded}0.05") == ""


def test_more_explained_than_bad_is_no_credit(tmp_path: Path):
    """Return 0, also when the incident stayed open longer than its datasets were bad."""
    series = burning("coverage", "critical", (60, 0.1))
    series[counted("explained", "coverage", "critical")] = values((60, 90))
    ratio = f"sli_tier:lineage_sli_unexplained:ratio_rate5m{LABELS}"

    assert asked(tmp_path, coverage(), series, 59, ratio, f"{ratio} 0") == ""


def test_each_sli_has_the_words_of_its_alerts():
    """Find them by its id, and those of no other."""
    assert list(SUBJECTS) == [sli.id for sli in SLIS]
