"""Windows and thresholds of burn rates, with their severity.

Pairs and factors are those of Google's SRE workbook, chapter "Alerting on SLOs", table of
recommended windows for a budget of 30 days: a page at 2 % of it in 1 h or 5 % in 6 h, a ticket at
10 % in 1 d or in 3 d. The short window, a twelfth of the long one, ends the alert soon after its
cause has ended.
"""

from decimal import Decimal
from typing import Final, Literal

import msgspec

from lineage.states import PAGE, TICKET

AlertSeverity = Literal["page", "ticket", "escalation"]
ESCALATION: Final = "escalation"

BUDGET_WINDOW: Final = "30d"  # what an error budget is for


class BurnWindow(msgspec.Struct, frozen=True):
    """Burn rate that alerts when it is exceeded in both windows.

    Attributes:
        severity: of the alert.
        factor: times as fast as would use up the budget in `BUDGET_WINDOW`.
        long: Prometheus duration; shows how much of the budget is used.
        short: Prometheus duration; shows that it still burns.
        least_events: bad ones in the long window, of SLIs that count events; below it, so few
            that a rate says nothing.
    """

    severity: AlertSeverity
    factor: Decimal
    long: str
    short: str
    least_events: int = 0

    def can_fire(self, budget: Decimal) -> bool:
        """Return whether the threshold can be reached: not more than everything can be bad."""
        return self.factor * budget < 1


PACE_WINDOW: Final = "5m"  # shows how much is counted at present
LEAST_OBSERVED: Final = Decimal("0.5")  # of a window; a window with less data is skipped

_UNIT_MINUTES: Final = {"m": 1, "h": 60, "d": 1_440}
_MOST_STEPS: Final = 720  # a subquery of more costs more than it shows


def pace_count(window: str) -> int:
    """Return how many pace windows fit in a window."""
    return _minutes(window) // _minutes(PACE_WINDOW)


def subquery_steps(window: str) -> tuple[int, str]:
    """Return into how many steps a window is cut to see how much data it has, and their length."""
    length = max(1, _minutes(window) // _MOST_STEPS)
    return _minutes(window) // length, f"{length}m"


def promql_seconds(window: str) -> int:
    """Return the length of a Prometheus duration of one unit."""
    return _minutes(window) * 60


def _minutes(window: str) -> int:
    return int(window[:-1]) * _UNIT_MINUTES[window[-1]]


BURN_WINDOWS: Final = (
    BurnWindow(PAGE, Decimal("14.4"), "1h", "5m", least_events=10),
    BurnWindow(PAGE, Decimal(6), "6h", "30m", least_events=10),
    BurnWindow(TICKET, Decimal(3), "1d", "2h"),
    BurnWindow(TICKET, Decimal(1), "3d", "6h"),
)
ESCALATION_WINDOW: Final = BurnWindow(ESCALATION, Decimal(2), "1h", "5m")
