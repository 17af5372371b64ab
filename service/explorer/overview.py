"""Overview page: overall state, open incidents, SLIs and pipeline."""

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from lineage.states import ALL_TIERS, REGULATED, TIERS
from service.explorer.addresses import set_aside_at
from service.queries.catalog_session import CatalogSession
from service.queries.datasets import counts_by_state
from service.queries.incident_shapes import IncidentPage, IncidentRow
from service.queries.incidents import MOST_INCIDENTS, list_incidents
from service.queries.roles import role_problem
from service.queries.shapes import SliAnswer, SliRow
from service.queries.slis import BudgetLeft, ObjectiveRatios, budgets_left, is_met, list_slis
from service.queries.status import Status
from service.queries.timestamps import stale_warning

_MOST_INCIDENTS = 6
_OPEN = ("open", "acknowledged")
Budgets = Mapping[tuple[str, str], BudgetLeft]


class Cell(msgspec.Struct, frozen=True):
    """SLI of one tier.

    Attributes:
        state: good | bad | free | unknown; `free` has no objective, `unknown` no current data.
        total: number of samples; null: stale. A total without a ratio: too much is unknown.
        budget: error budget left; null: unknown, or no budget.
    """

    state: str
    total: float | None
    ratio: float | None
    objective: float | None
    budget: BudgetLeft | None


class OverviewLine(msgspec.Struct, frozen=True):
    """Row of an SLI: one cell for each column, null where it is not measured."""

    id: str
    name: str
    cells: list[Cell | None]


class OverallState(msgspec.Struct, frozen=True):
    """Overall state, with its reasons."""

    state: str  # good | bad | unknown
    words: str
    because: list[str]


class Overview(msgspec.Struct, frozen=True):
    """View of the overview page."""

    verdict: OverallState
    incidents: IncidentPage
    suppressed: int
    datasets: dict[str, int]  # by state
    tiers: tuple[str, ...]
    by_tier: list[OverviewLine]
    overall: list[OverviewLine]
    status: Status
    links: dict[str, str]  # address by reason, where a page has details


def load_overview(asked: CatalogSession, objectives: ObjectiveRatios, status: Status) -> Overview:
    """Load the page from one snapshot of the catalog."""
    answer = list_slis(asked.reader, asked.evaluated, objectives, now=asked.now)
    left = budgets_left(asked.reader, objectives, asked.now)
    listed = list_incidents(asked.reader, asked.visibility, limit=MOST_INCIDENTS)
    is_open = [row for row in listed.incidents if row.state in _OPEN]
    counts = counts_by_state(asked.reader, asked.evaluated, asked.visibility)
    columns = (*TIERS, REGULATED)
    rows = [replace(row, total=None) for row in answer.slis] if answer.stale else answer.slis
    doubt = stale_warning(asked.evaluated) if asked.evaluated.stale else None
    shown = replace(listed, incidents=is_open[:_MOST_INCIDENTS], total=len(is_open))
    set_aside = _set_aside(status)
    doubts = [doubt, *_pipeline(status, asked.now), *set_aside]
    return Overview(
        verdict=verdict(is_open, answer, counts, doubts),
        incidents=shown,
        suppressed=sum(row.state == "suppressed" for row in listed.incidents),
        datasets=counts,
        tiers=columns,
        by_tier=_lines((row for row in rows if row.tier != ALL_TIERS), columns, left),
        overall=_lines((row for row in rows if row.tier == ALL_TIERS), (ALL_TIERS,), left),
        status=status,
        links=dict.fromkeys(set_aside, set_aside_at()),
    )


def verdict(
    is_open: list[IncidentRow],
    answer: SliAnswer,
    counts: Mapping[str, int],
    doubts: Iterable[str | None],
) -> OverallState:
    """Return the overall state: degraded if any problem is known, healthy only with evidence."""
    missed = [row for row in answer.slis if cell_state(row) == "bad"]
    wrong = [
        *_open_incidents(is_open),
        *_counted(counts["bad"], "dataset bad", "datasets bad"),
        *_counted(counts["failing"], "dataset failing", "datasets failing"),
        *(f"{row.name.replace('_', ' ')} ({row.tier}) misses its objective" for row in missed),
    ]
    unsure = [doubt for doubt in doubts if doubt]
    if wrong:
        return OverallState("bad", "Degraded", [*wrong, *unsure])
    if unsure:
        return OverallState("unknown", "Unknown", unsure)
    if not sum(counts.values()):
        return OverallState("unknown", "Unknown", ["no dataset has been reported yet"])
    return _without_fault(answer, counts)


def _without_fault(answer: SliAnswer, counts: Mapping[str, int]) -> OverallState:
    """Return healthy only if current data shows it: the absence of problems is not enough."""
    without = sum(cell_state(row) == "unknown" for row in answer.slis if row.objective is not None)
    is_sampled = any(cell_state(row) == "good" for row in answer.slis)
    is_known = bool(is_sampled and counts["good"] and not counts["unknown"])
    left = [
        *([] if counts["good"] else ["no dataset is known to be good"]),
        *_counted(counts["unknown"], "dataset unknown", "datasets unknown"),
        *_counted(without, "objective has no data", "objectives have no data"),
    ]
    words = "Healthy" if is_known and not left else "No known problems"
    return OverallState("good" if is_known else "unknown", words, left)


def _pipeline(status: Status, now: datetime) -> list[str]:
    """Return the reasons why figures may be stale."""
    collector = status.collector
    silent = collector is not None and not collector.alive
    down = ["the collector is down: events may be lost"] if silent else []
    failing = [line for role in status.roles if (line := role_problem(role, now))]
    return [*status.warnings, *failing, *down, *_policies(status)]


def _set_aside(status: Status) -> list[str]:
    return _counted(status.set_aside_events or 0, "event set aside", "events set aside")


def _policies(status: Status) -> list[str]:
    return [
        f"the policy file is rejected, "
        f"{'the previous one stays' if one.hash else 'no policy is'} in force"
        f" ({one.role})"
        for one in status.policies
        if one.error
    ]


def _open_incidents(rows: list[IncidentRow]) -> list[str]:
    """Count them by severity: `3 open incidents (1 page, 2 tickets)`."""
    pages = sum(row.severity == "page" for row in rows)
    severities = [*_counted(pages, "page"), *_counted(len(rows) - pages, "ticket")]
    return [f"{each} ({', '.join(severities)})" for each in _counted(len(rows), "open incident")]


def _counted(number: int, one: str, many: str | None = None) -> list[str]:
    return [f"{number:,} {one if number == 1 else many or f'{one}s'}"] if number else []


def cell_state(row: SliRow) -> str:
    """Return the state of a cell: unknown without data, free without an objective."""
    if row.ratio is None:
        return "unknown"
    return {True: "good", False: "bad", None: "free"}[is_met(row)]


def _lines(rows: Iterable[SliRow], columns: tuple[str, ...], left: Budgets) -> list[OverviewLine]:
    names: dict[str, str] = {}
    cells: dict[tuple[str, str], Cell] = {}
    for row in rows:
        names[row.id] = row.name
        budget = left.get((row.id, row.tier))
        cells[row.id, row.tier] = Cell(cell_state(row), row.total, row.ratio, row.objective, budget)
    return [
        OverviewLine(id_, name, [cells.get((id_, column)) for column in columns])
        for id_, name in names.items()
    ]
