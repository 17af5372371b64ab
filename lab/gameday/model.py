"""Estate in truth: teams, datasets, jobs, and the true lineage.

Nothing here is what lineage says: that is what `events` makes of it.
"""

from collections.abc import Iterable
from datetime import date
from functools import cached_property
from typing import Literal

import msgspec

from lineage.process.clock import SECOND_MICROS
from lineage.states import CRITICAL, OPTIONAL, TIERS, Tier

JobCadence = Literal["daily", "weekday", "hourly", "quarter", "streaming", "adhoc"]
# listener: reports all. log: leaves an event log and no event. nothing: leaves no trace.
Reporting = Literal["listener", "log", "nothing"]
# Who reports a run. spark: an application a run. application: one a day, a query a run. airflow: a
# task of a DAG. dbt: a model of an invocation.
Client = Literal["spark", "application", "airflow", "dbt"]
Full = tuple[str, str]

MINUTE_MICROS = 60 * SECOND_MICROS
HOUR = 3_600 * SECOND_MICROS
DAY = 24 * HOUR


class Region(msgspec.Struct, frozen=True):
    """Place where teams work: a zone, and days on which their weekday jobs do not run."""

    name: str
    zone: str
    holidays: tuple[date, ...]


class Team(msgspec.Struct, frozen=True):
    """Owners, as the policy names them."""

    name: str
    region: Region


class SimulatedDataset(msgspec.Struct, frozen=True):
    """Dataset of the simulated environment.

    Attributes:
        number: position in the estate.
        layer: 0 for sources; one more than the highest of its inputs.
        team: position of its owner.
        declared: tier that the policy names outright; none: it is inherited or the default.
        limit: declared, as the policy writes it.
    """

    number: int
    namespace: str
    name: str
    layer: int
    team: int
    cadence: JobCadence
    declared: Tier | None = None
    limit: str | None = None

    @property
    def is_source(self) -> bool:
        """Return whether it comes from outside."""
        return self.layer == 0

    @property
    def full_name(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name


class SimulatedJob(msgspec.Struct, frozen=True):
    """Job of the simulated environment: an application that is started again and again.

    Attributes:
        number: position in the estate.
        name: of the application; its runs are named after what Spark plans.
        inputs: numbers of datasets; none of a job that brings data in from outside.
        outputs: numbers of datasets; none of a notebook that only reads.
        at_seconds: local time of day of its slot; of an hourly one, into the hour.
        waits: for inputs that are newer than its last run; else it runs on what is there.
        usual_seconds: median of its durations, lognormal with `spread`.
        pool: of machines with one version of Spark.
        is_twofold: each write is two runs, as a CTAS is.
        is_orchestrated: its runs know their nominal time.
        client: reports its runs, where somebody does.
    """

    number: int
    name: str
    team: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    cadence: JobCadence
    at_seconds: int
    waits: bool
    reporting: Reporting
    usual_seconds: float
    spread: float
    pool: int = 0
    is_twofold: bool = False
    is_orchestrated: bool = False
    client: Client = "spark"

    @property
    def root_name(self) -> str:
        """Name of the job that starts its runs: an application, a DAG or an invocation of dbt."""
        return {"airflow": f"{self.name}_dag", "dbt": f"dbt-run-{self.name}"}.get(
            self.client, self.name
        )


class Estate(msgspec.Struct, frozen=True, dict=True):
    """Estate: datasets and jobs. Numbers are positions."""

    seed: int
    first_day: date
    days: int
    teams: tuple[Team, ...]
    datasets: tuple[SimulatedDataset, ...]
    jobs: tuple[SimulatedJob, ...]

    @cached_property
    def writer_of(self) -> dict[int, SimulatedJob]:
        """Return the job of each dataset that a job writes."""
        return {number: job for job in self.jobs for number in job.outputs}

    @cached_property
    def readers_of(self) -> dict[int, tuple[SimulatedJob, ...]]:
        """Return the scheduled jobs that read a dataset."""
        found: dict[int, list[SimulatedJob]] = {}
        for job in self.jobs:
            for number in job.inputs if job.cadence != "adhoc" else ():
                found.setdefault(number, []).append(job)
        return {number: tuple(jobs) for number, jobs in found.items()}

    def namespace_of(self, job: SimulatedJob) -> str:
        """Return the namespace of its runs: one for each team's jobs."""
        return self.teams[job.team].name

    def names_of(self, job: SimulatedJob) -> tuple[str, ...]:
        """Return names of the jobs that its runs report: of dbt, one model for each output."""
        if job.client == "airflow":
            return (f"{job.root_name}.{job.name}",)
        if job.client == "dbt":
            models = (self.datasets[each].name.replace("/", "_") for each in job.outputs)
            return tuple(f"lake.{self.namespace_of(job)}.{job.name}.{model}" for model in models)
        return (job.name,)

    def descendants(self, datasets: Iterable[int]) -> frozenset[int]:
        """Return all downstream datasets of these, without them, by the true graph."""
        begun = frozenset(datasets)
        found: set[int] = set()
        waiting = list(begun)
        while waiting:
            for job in self.readers_of.get(waiting.pop(), ()):
                fresh = [each for each in job.outputs if each not in found]
                found.update(fresh)
                waiting += fresh
        return frozenset(found - begun)

    @cached_property
    def tiers(self) -> tuple[Tier, ...]:
        """Return each dataset's tier: declared, else the highest downstream, else `optional`."""
        held: list[Tier] = [each.declared or OPTIONAL for each in self.datasets]
        for dataset in sorted(self.datasets, key=lambda each: -each.layer):
            for job in self.readers_of.get(dataset.number, ()):
                below = [held[each] for each in job.outputs]
                if dataset.declared is None:
                    held[dataset.number] = min([held[dataset.number], *below], key=TIERS.index)
        return tuple(held)

    def are_optional(self, datasets: Iterable[int]) -> bool:
        """Return whether all of them are."""
        return all(self.tiers[each] == OPTIONAL for each in datasets)

    def is_critical(self, datasets: Iterable[int]) -> bool:
        """Return whether one of the datasets is critical."""
        return any(self.tiers[each] == CRITICAL for each in datasets)


def other_name(name: Full) -> Full:
    """Return what a dataset is renamed to: the same words, spelled another way."""
    folder, _, last = name[1].rpartition("/")
    return name[0], f"{folder}/{last.title().replace('_', '')}"
