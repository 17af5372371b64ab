"""Estate from a seed: layers of datasets over shared sources, and the jobs between."""

import random
from datetime import date
from typing import Final

import msgspec

from lab.gameday.model import (
    Estate,
    JobCadence,
    Region,
    Reporting,
    SimulatedDataset,
    SimulatedJob,
    Team,
)
from lab.gameday.traits import TEAMS, two_word_names, with_clients, with_limits, with_tiers

# A Monday: in the thirty days after it lie a change of the clocks in Europe, a holiday of Tokyo
# and two of Berlin.
FIRST_DAY: Final = date(2026, 3, 9)
REGIONS: Final = (
    Region("germany", "Europe/Berlin", (date(2026, 4, 3), date(2026, 4, 6))),
    Region("states", "America/New_York", (date(2026, 5, 25),)),
    Region("japan", "Asia/Tokyo", (date(2026, 3, 20),)),
)
# Of all datasets, by layer from the sources on.
_LAYERS: Final = (0.10, 0.26, 0.25, 0.19, 0.12, 0.08)
_FOLDERS: Final = ("landing", "raw", "core", "joined", "mart", "serving")
_VERBS: Final = ("land", "load", "clean", "join", "build", "serve")
_CADENCES: Final[dict[JobCadence, float]] = {
    "daily": 0.57,
    "weekday": 0.39,
    "hourly": 0.025,
    "streaming": 0.006,
    "quarter": 0.002,
}
# What a job of a cadence may read: never what comes less often. `True`: of its own region alone.
_FEEDS: Final[dict[JobCadence, dict[JobCadence, bool]]] = {
    "weekday": {"weekday": True, "daily": True, "hourly": False, "quarter": False},
    "daily": {"daily": True, "hourly": False, "quarter": False, "streaming": False},
    "hourly": {"hourly": False, "quarter": False, "streaming": False},
    "quarter": {"quarter": False, "streaming": False},
    "streaming": {"streaming": False},
    "adhoc": {"daily": False, "weekday": False, "hourly": False, "streaming": False},
}
_USUAL_SECONDS: Final[dict[JobCadence, tuple[float, float]]] = {
    "daily": (240, 1_500),
    "weekday": (240, 1_500),
    "hourly": (60, 300),
    "quarter": (30, 90),
    "streaming": (20, 60),
    "adhoc": (60, 900),
}
_LISTENERS, _LOGS = 0.90, 0.95  # up to these shares: with a listener, with an event log alone
_UNREPORTED_SOURCES = 0.15
_WAITING = 0.6
_NOTEBOOKS = 0.03
_POOL_JOBS = 12
_TAUGHT_DAYS = 12  # fewer teach no limits of daily datasets: all are declared


class Shape(msgspec.Struct, frozen=True):
    """Requested size of an estate."""

    seed: int
    datasets: int = 2_000
    days: int = 30

    def __post_init__(self) -> None:
        """Reject shapes that give no graph, or need more names than there are."""
        if not 50 <= self.datasets <= 4_000:  # noqa: PLR2004 - as the message says
            raise ValueError(f"datasets: 50 to 4000, got {self.datasets}")
        if not 2 <= self.days <= 60:  # noqa: PLR2004 - as the message says
            raise ValueError(f"days: 2 to 60, got {self.days}")


def build_estate(shape: Shape) -> Estate:
    """Build the estate of a seed: the same for the same shape, byte for byte."""
    built = _Builder(shape)
    built.add_layers()
    built.add_notebooks()
    raw = Estate(
        seed=shape.seed,
        first_day=FIRST_DAY,
        days=shape.days,
        teams=built.teams,
        datasets=tuple(built.datasets),
        jobs=tuple(built.jobs),
    )
    chance = random.Random(f"{shape.seed} tiers")  # noqa: S311 - made up, no secret
    limited = with_limits(with_tiers(raw, chance), chance, all_of_them=shape.days < _TAUGHT_DAYS)
    return with_clients(limited)


class _Builder:
    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._chance = random.Random(shape.seed)  # noqa: S311 - made up, no secret
        self._names = two_word_names(self._chance)
        self.teams = _teams(shape)
        self.datasets: list[SimulatedDataset] = []
        self.jobs: list[SimulatedJob] = []

    def add_layers(self) -> None:
        """Add all scheduled jobs with their outputs, layer by layer."""
        bounds, total = [], 0.0
        for share in _LAYERS:
            total += share
            bounds.append(round(total * self._shape.datasets))
        for layer, bound in enumerate(bounds):
            first = len(self.jobs)
            while len(self.datasets) < bound:
                self._add_job(layer, bound - len(self.datasets), len(self.jobs) - first)

    def add_notebooks(self) -> None:
        """Add sessions of people who only read."""
        for _ in range(max(2, round(_NOTEBOOKS * self._shape.datasets))):
            team = self._chance.randrange(1, len(self.teams))
            inputs = self._inputs("adhoc", team, len(_LAYERS))
            self._job("notebook", team, inputs, (), "adhoc", len(_LAYERS))

    def _add_job(self, layer: int, room: int, place: int) -> None:
        team = self._chance.randrange(1, len(self.teams))
        kinds = list(_CADENCES)
        cadence = self._chance.choices(kinds, [_CADENCES[kind] for kind in kinds])[0]
        # Each kind is there in the smallest estate, and something for it to read.
        if layer <= 1 and place < len(kinds):
            cadence = kinds[place]
        inputs = self._inputs(cadence, team, layer) if layer else ()
        if layer and not inputs:
            cadence, inputs = "daily", self._any_daily(team)
        count = 1 if layer == 0 else self._chance.choices((1, 2, 3), (75, 20, 5))[0]
        depth = 1 + max((self.datasets[each].layer for each in inputs), default=-1)
        outputs = self._outputs(depth, team, cadence, min(count, room))
        self._job(_VERBS[depth], team, inputs, outputs, cadence, depth)

    def _inputs(self, cadence: JobCadence, team: int, below: int) -> tuple[int, ...]:
        """Choose one to four of the possible inputs, most of them of the layer just below."""
        fitting = [each for each in self.datasets if self._fits(cadence, team, each, below)]
        near = [each for each in fitting if each.layer == below - 1] or fitting
        if not near:
            return ()
        count = self._chance.choices((1, 2, 3, 4), (40, 35, 17, 8))[0]
        first = self._chance.choice(near).number
        rest = [self._chance.choice(fitting).number for _ in range(count - 1)]
        return tuple(dict.fromkeys([first, *rest]))

    def _fits(self, cadence: JobCadence, team: int, dataset: SimulatedDataset, below: int) -> bool:
        is_near = _FEEDS[cadence].get(dataset.cadence)
        if is_near is None or dataset.layer >= below:
            return False
        region = self.teams[team].region
        return not is_near or self.teams[dataset.team].region == region

    def _any_daily(self, team: int) -> tuple[int, ...]:
        region = self.teams[team].region
        own = [each for each in self.datasets if self.teams[each.team].region == region]
        daily = [each for each in own if each.cadence == "daily"] or self.datasets
        return (self._chance.choice([each.number for each in daily]),)

    def _outputs(self, layer: int, team: int, cadence: JobCadence, count: int) -> tuple[int, ...]:
        folder = f"{_FOLDERS[layer]}/{self.teams[team].name}"
        first = len(self.datasets)
        for number in range(first, first + count):
            path = f"{folder}/{next(self._names)}"
            self.datasets.append(SimulatedDataset(number, "s3://lake", path, layer, team, cadence))
        return tuple(range(first, first + count))

    def _job(  # noqa: PLR0913, PLR0917 - what a job is
        self,
        verb: str,
        team: int,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        cadence: JobCadence,
        layer: int,
    ) -> None:
        chance = self._chance
        number = len(self.jobs)
        named = self.datasets[outputs[0]].name.rsplit("/", 1)[1] if outputs else next(self._names)
        self.jobs.append(
            SimulatedJob(
                number=number,
                name=f"{verb}_{named}",
                team=team,
                inputs=inputs,
                outputs=outputs,
                cadence=cadence,
                at_seconds=_slot(chance, cadence, layer),
                waits=bool(inputs) and cadence != "streaming" and chance.random() < _WAITING,
                reporting=self._reporting(cadence, layer),
                usual_seconds=chance.uniform(*_USUAL_SECONDS[cadence]),
                spread=chance.uniform(0.1, 0.3),
                pool=number // _POOL_JOBS,
                # CTAS and saveAsTable: of tables that are written again, once a day.
                is_twofold=chance.random() < 0.15 and cadence in {"daily", "weekday"},  # noqa: PLR2004
                is_orchestrated=cadence in {"daily", "weekday"} and chance.random() < 1 / 2,
            )
        )

    def _reporting(self, cadence: JobCadence, layer: int) -> Reporting:
        drawn = self._chance.random()
        if cadence in {"streaming", "quarter", "hourly"}:
            return "listener"
        if layer == 0:
            return "nothing" if drawn < _UNREPORTED_SOURCES else "listener"
        if drawn < _LISTENERS:
            return "listener"
        return "log" if drawn < _LOGS else "nothing"


def _teams(shape: Shape) -> tuple[Team, ...]:
    """Return the owners, the platform first; it owns no dataset."""
    count = min(len(TEAMS), max(5, shape.datasets // 70))
    return tuple(Team(TEAMS[at], REGIONS[at % len(REGIONS)]) for at in range(count))


def _slot(chance: random.Random, cadence: JobCadence, layer: int) -> int:
    """Return a time after the slots of the inputs, by an hour and 24 minutes a layer."""
    if cadence in {"daily", "weekday"}:
        return round(3_600 + 5_040 * layer + chance.uniform(0, 2_400))
    period = {"hourly": 3_600, "quarter": 900, "streaming": 1_800, "adhoc": 86_400}[cadence]
    return int(chance.uniform(0, period * 0.8))
