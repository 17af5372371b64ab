"""Policy file of an estate, as its people would have written it."""

from collections.abc import Iterable, Iterator

import msgspec
import yaml

from lab.gameday.model import Estate, Region, SimulatedDataset, SimulatedJob
from lineage.policy.model import (
    Calendar,
    DatasetRule,
    EscalationStep,
    JobRule,
    Owner,
    Policy,
    Suppression,
)

PLATFORM = "platform"


def build_policy(estate: Estate, suppressions: Iterable[Suppression] = ()) -> Policy:
    """Return the policy: owners, folders, tiers, calendars, and windows of planned work.

    Key files are `keys/TEAM`, relative to the folder of keys.
    """
    return Policy(
        owners=tuple(_owners(estate)),
        datasets=(*_folders(estate), *_named(estate)),
        jobs=tuple(JobRule(f"{team.name}/*", team.name) for team in estate.teams),
        sources=("s3://lake/landing/*",),
        calendars=tuple(_calendar(region) for region in _regions(estate)),
        suppressions=tuple(suppressions),
    )


def policy_text(policy: Policy) -> str:
    """Return the policy as a file, for `lineward policy check` and the service."""
    fields = msgspec.to_builtins(policy, str_keys=True)
    defaults = msgspec.to_builtins(Policy(), str_keys=True)
    kept = {name: value for name, value in fields.items() if value != defaults.get(name)}
    return yaml.safe_dump(_without_nulls(kept), sort_keys=False, allow_unicode=True)


def _without_nulls(value: object) -> object:
    if isinstance(value, dict):
        kept = {name: _without_nulls(inner) for name, inner in value.items()}
        return {name: inner for name, inner in kept.items() if inner not in (None, [], ())}
    if isinstance(value, list | tuple):
        return [_without_nulls(inner) for inner in value]
    return value


def _regions(estate: Estate) -> list[Region]:
    return list(dict.fromkeys(team.region for team in estate.teams))


def _owners(estate: Estate) -> Iterator[Owner]:
    for team in estate.teams:
        steps = () if team.name == PLATFORM else (EscalationStep(30, owner=PLATFORM),)
        yield Owner(team.name, f"#{team.name}", f"keys/{team.name}", steps)


def _calendar(region: Region) -> Calendar:
    days_off = ("sat", "sun")
    return Calendar(region.name, region.zone, days_off, region.holidays)  # type: ignore[arg-type]


def _folders(estate: Estate) -> Iterator[DatasetRule]:
    """Return the owners' rules: each team owns the folders of its name."""
    for team in estate.teams:
        yield DatasetRule(f"s3://lake/*/{team.name}/*", owner=team.name)


def _named(estate: Estate) -> Iterator[DatasetRule]:
    """Return the rules for single datasets; unreported ones are declared with their inputs."""
    for dataset in estate.datasets:
        job = estate.writer_of[dataset.number]
        rule = DatasetRule(
            joined_name(dataset),
            tier=dataset.declared,
            limit=dataset.limit,
            streaming=True if dataset.cadence == "streaming" else None,
            calendar=_calendar_of(estate, job),
            expect_inputs=_expected(estate, job),
        )
        if rule != DatasetRule(joined_name(dataset)):
            yield rule


def joined_name(dataset: SimulatedDataset) -> str:
    """Return a name as people write it, and as a pattern for it alone."""
    return f"{dataset.namespace}/{dataset.name}"


def _calendar_of(estate: Estate, job: SimulatedJob) -> str | None:
    return estate.teams[job.team].region.name if job.cadence == "weekday" else None


def _expected(estate: Estate, job: SimulatedJob) -> tuple[str, ...]:
    if job.reporting == "listener":
        return ()
    return tuple(joined_name(estate.datasets[each]) for each in job.inputs)
