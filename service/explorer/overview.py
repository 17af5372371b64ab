"""Today at a glance: are we all right, if not what is wrong, and who is on it."""

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec
from msgspec.structs import replace

from lineage.states import ALL_TIERS, REGULATED, TIERS
from service.answers.budgets import BudgetLeft, budgets_left
from service.answers.datasets import counts_by_state
from service.answers.incident_shapes import IncidentPage, IncidentRow
from service.answers.incidents import MOST_LISTED, incidents
from service.answers.moments import stale_warning
from service.answers.shapes import SliAnswer, SliRow
from service.answers.slis import Objectives, is_met, slis
from service.answers.status import Status, trouble_of
from service.asking import Question
from service.explorer.addresses import set_aside_at

_MOST_INCIDENTS = 6
_OPEN = ("open", "acknowledged")
Budgets = Mapping[tuple[str, str], BudgetLeft]


class Cell(msgspec.Struct, frozen=True):
    """One SLI of one tier.

    Attributes:
        state: good | bad | free | unknown; free has no objective, unknown no sample of now.
        total: what was counted; null: not of now. Without a ratio too much of the day is unknown.
        budget: what is left of it; null: not known, or there is none.
    """

    state: str
    total: float | None
    ratio: float | None
    objective: float | None
    budget: BudgetLeft | None


class Line(msgspec.Struct, frozen=True):
    """One SLI: a cell for each of the columns, null where it has none there."""

    id: str
    name: str
    cells: list[Cell | None]


class Verdict(msgspec.Struct, frozen=True):
    """The answer to "are we all right?", with what speaks against it."""

    state: str  # good | bad | unknown
    words: str
    because: list[str]


class Overview(msgspec.Struct, frozen=True):
    """What the first page shows."""

    verdict: Verdict
    incidents: IncidentPage
    suppressed: int
    datasets: dict[str, int]  # by state
    tiers: tuple[str, ...]
    by_tier: list[Line]
    overall: list[Line]
    status: Status
    links: dict[str, str]  # address by reason of the verdict, where a page has more of it


def overview(asked: Question, objectives: Objectives, status: Status) -> Overview:
    """All of it, of one moment of the catalog."""
    answer = slis(asked.reader, asked.evaluated, objectives, now=asked.now)
    left = budgets_left(asked.reader, objectives, asked.now)
    listed = incidents(asked.reader, asked.sight, limit=MOST_LISTED)
    is_open = [row for row in listed.incidents if row.state in _OPEN]
    counts = counts_by_state(asked.reader, asked.evaluated, asked.sight)
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
) -> Verdict:
    """Bad by what is known; unknown where that is not enough to say good."""
    missed = [row for row in answer.slis if cell_state(row) == "bad"]
    wrong = [
        *_counted(
            sum(row.severity == "page" for row in is_open),
            "incident that pages",
            "incidents that page",
        ),
        *_counted(sum(row.severity != "page" for row in is_open), "ticket"),
        *_counted(counts["bad"], "dataset is bad", "datasets are bad"),
        *_counted(counts["failing"], "dataset is failing", "datasets are failing"),
        *(f"{row.name.replace('_', ' ')} ({row.tier}) misses its objective" for row in missed),
    ]
    unsure = [doubt for doubt in doubts if doubt]
    if wrong:
        return Verdict("bad", "Not all right", [*wrong, *unsure])
    if unsure:
        return Verdict("unknown", "Not known", unsure)
    if not sum(counts.values()):
        return Verdict("unknown", "Not known", ["no dataset has been seen yet"])
    return _without_fault(answer, counts)


def _without_fault(answer: SliAnswer, counts: Mapping[str, int]) -> Verdict:
    """Good by something that is known to be so: that nothing is bad is not enough."""
    without = sum(cell_state(row) == "unknown" for row in answer.slis if row.objective is not None)
    is_sampled = any(cell_state(row) == "good" for row in answer.slis)
    is_known = bool(is_sampled and counts["good"] and not counts["unknown"])
    left = [
        *([] if counts["good"] else ["no dataset is known to be good"]),
        *_counted(counts["unknown"], "dataset is unknown", "datasets are unknown"),
        *_counted(without, "objective has no sample", "objectives have no sample"),
    ]
    words = "All right" if is_known and not left else "No fault is known"
    return Verdict("good" if is_known else "unknown", words, left)


def _pipeline(status: Status, now: datetime) -> list[str]:
    """What keeps the figures from being of now."""
    collector = status.collector
    silent = collector is not None and not collector.alive
    beat = ["the collector does not beat: events may be lost"] if silent else []
    failing = [line for role in status.roles if (line := trouble_of(role, now))]
    return [*status.warnings, *failing, *beat, *_policies(status)]


def _set_aside(status: Status) -> list[str]:
    return _counted(status.set_aside_events or 0, "event is set aside", "events are set aside")


def _policies(status: Status) -> list[str]:
    return [
        f"the policy file is rejected, {'an older one is' if one.hash else 'none is'} in force"
        f" ({one.role})"
        for one in status.policies
        if one.error
    ]


def _counted(number: int, one: str, many: str | None = None) -> list[str]:
    return [f"{number:,} {one if number == 1 else many or f'{one}s'}"] if number else []


def cell_state(row: SliRow) -> str:
    """Unknown without a sample; free where nothing says how much would be good."""
    if row.ratio is None:
        return "unknown"
    return {True: "good", False: "bad", None: "free"}[is_met(row)]


def _lines(rows: Iterable[SliRow], columns: tuple[str, ...], left: Budgets) -> list[Line]:
    names: dict[str, str] = {}
    cells: dict[tuple[str, str], Cell] = {}
    for row in rows:
        names[row.id] = row.name
        budget = left.get((row.id, row.tier))
        cells[row.id, row.tier] = Cell(cell_state(row), row.total, row.ratio, row.objective, budget)
    return [
        Line(id_, name, [cells.get((id_, column)) for column in columns])
        for id_, name in names.items()
    ]
