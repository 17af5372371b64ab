"""Content of a dashboard as plain values: rows of panels, with texts, queries and thresholds."""

from collections.abc import Callable
from decimal import Decimal
from typing import Final, Literal

import msgspec

from lineage.policy.model import Policy
from lineage.states import SLI_BY_NAME

PanelKind = Literal["stat", "trend", "bars", "table", "heat", "graph"]
ThresholdStep = tuple[
    float | None, str
]  # from this value on this colour; the first from nothing on

GREEN: Final = "green"
YELLOW: Final = "yellow"
ORANGE: Final = "orange"
RED: Final = "red"
PLAIN: Final = "blue"  # neither good nor bad


BUDGET_STEPS: Final[tuple[ThresholdStep, ...]] = ((None, RED), (0.0, ORANGE), (0.25, GREEN))

ObjectiveLookup = Callable[[str, str], Decimal]  # by the SLI's name and tier
_ALL: Final = Decimal(1)


class Query(msgspec.Struct, frozen=True):
    """Query to Prometheus.

    Attributes:
        legend: of its series; of a table the name of its column.
        unit: of that column, where it is not the panel's.
    """

    expr: str
    legend: str = ""
    unit: str | None = None


class Column(msgspec.Struct, frozen=True):
    """Column taken from each row of a response of the API."""

    selector: str
    kind: Literal["string", "number", "timestamp", "boolean"] = "string"
    text: str | None = None  # none: the selector
    unit: str | None = None


class ApiQuery(msgspec.Struct, frozen=True):
    """Query to Lineward's API, through the Infinity data source.

    Attributes:
        url: below the data source's own.
        root: where in the answer the rows are.
        form: as Infinity calls it.
    """

    url: str
    root: str
    columns: tuple[Column, ...]
    form: Literal["table", "node-graph-nodes", "node-graph-edges"] = "table"


class Link(msgspec.Struct, frozen=True):
    """Link to the next page for a reader."""

    title: str
    url: str


class Panel(msgspec.Struct, frozen=True, kw_only=True):
    """Panel of a dashboard.

    Attributes:
        description: what is counted, and what to do when it is bad.
        unit: Grafana's word for it.
        no_value: what stands there where there is no sample: never a figure.
        steps: colours of values, from the lowest.
        links: on the panel.
        data_links: on each of its values; fields and labels of it may be in the URL.
        columns: of a table, the labels that are shown, in order; its queries' values follow.
        sorted_by: of a table, the columns that it is sorted by; one with a `-` downwards.
        back: Grafana's duration to look back for, whatever the dashboard's range.
    """

    kind: PanelKind
    title: str
    description: str
    unit: str
    queries: tuple[Query, ...] | tuple[ApiQuery, ...]
    no_value: str
    width: int
    height: int = 8
    steps: tuple[ThresholdStep, ...] = ((None, PLAIN),)
    links: tuple[Link, ...] = ()
    data_links: tuple[Link, ...] = ()
    columns: tuple[str, ...] = ()
    sorted_by: tuple[str, ...] = ()
    back: str | None = None
    lowest: float | None = None
    highest: float | None = None


class PanelRow(msgspec.Struct, frozen=True):
    """Panels under one heading, side by side and then below one another."""

    title: str
    panels: tuple[Panel, ...]


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Dashboard with its rows.

    Attributes:
        single: one dataset is chosen, and not many.
    """

    uid: str
    title: str
    description: str
    rows: tuple[PanelRow, ...]
    since: str
    refresh: str
    single: bool = False


def good_from(objective: Decimal) -> tuple[ThresholdStep, ...]:
    """Return steps for a value that is good from the objective on."""
    return ((None, RED), (float(objective), GREEN))


def bad_from(objective: float) -> tuple[ThresholdStep, ...]:
    """Return steps for a value that is bad from the objective on."""
    return ((None, GREEN), (objective, RED))


def objective_query(policy: Policy) -> ObjectiveLookup:
    """Return the objective of an SLI and tier, or 1 without one, so that any loss is shown."""

    def _of(sli: str, tier: str) -> Decimal:
        found = policy.objective(SLI_BY_NAME[sli], tier)
        return _ALL if found is None else found

    return _of
