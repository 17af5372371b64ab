"""What a policy file may say.

`docs/policy.md` describes every field for the people who write it.
"""

import hashlib
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from lineage.policy.actions import ActionRule
from lineage.policy.durations import seconds_of
from lineage.policy.folds import Fold
from lineage.policy.patterns import PatternParts, dataset_of
from lineage.policy.recurring import Recurring
from lineage.states import Sli, Tier

DEFAULT_RETENTION_DAYS = 90

Text = Annotated[str, Meta(min_length=1)]
Minutes = Annotated[int, Meta(ge=0, le=10_080)]
Days = Annotated[int, Meta(ge=1, le=3_650)]
Instant = Annotated[datetime, Meta(tz=True)]
Match = Text | PatternParts
DatasetName = tuple[str, str]
DatasetField = Literal["owner", "schema", "version", "checksum"]
RunField = Literal[
    "job_id", "job_version", "code_version", "engine_version", "parameters", "nominal_time"
]
RequiredFields = tuple[DatasetField | RunField, ...]
Role = Literal["read", "respond", "admin"]
SlackUser = Annotated[str, Meta(pattern="^[UW][A-Z0-9]{2,30}$")]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class EscalationStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whom to tell when nobody has acknowledged for so many minutes."""

    after_minutes: Minutes
    owner: Text | None = None
    slack: Text | None = None
    pagerduty_key_file: Text | None = None


class Owner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A team and how it is reached. The key itself stays in a file of its own."""

    name: Text
    slack: Text | None = None
    pagerduty_key_file: Text | None = None
    escalation: tuple[EscalationStep, ...] = ()


class DatasetRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What holds for the datasets that `match` matches; what is left out is left to other rules."""

    match: Match
    tier: Tier | None = None
    owner: Text | None = None
    source: bool | None = None
    generated: bool | None = None
    streaming: bool | None = None
    regulated: bool | None = None
    pii: bool | None = None
    limit: str | int | None = None  # "26h", "90m", "2d 6h", or seconds
    expect_inputs: tuple[Text, ...] = ()
    calendar: Text | None = None

    def __post_init__(self) -> None:
        """Refuse a limit that is no duration."""
        if self.limit is not None:
            seconds_of(self.limit)


class JobRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who owns the jobs that `match` matches."""

    match: Match
    owner: Text


class Alias(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two names for one dataset, or, with `apart`, two datasets that the symlinks take for one."""

    name: Text
    dataset: Text
    apart: bool = False


class Calendar(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Days on which nothing is expected."""

    name: Text
    time_zone: Text = "UTC"
    days_off: tuple[Weekday, ...] = ()
    holidays: tuple[date, ...] = ()


class Suppression(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"from_": "from", "for_": "for"},
):
    """A window in which what matches opens no incident: once, or by `cron`.

    One that is once counts as a planned backfill besides.

    Attributes:
        cron: when a window begins: five fields.
        for_: how long each then lasts.
        time_zone: whose clocks cron goes by; the policy's unless told.
    """

    name: Text
    match: Match
    from_: Instant | None = None
    until: Instant | None = None
    cron: Text | None = None
    for_: str | int | None = None
    time_zone: Text | None = None

    def __post_init__(self) -> None:
        """Refuse a window without an end, or that ends before it begins."""
        if self.cron is None:
            self._refuse_unless_once()
        elif self.for_ is None:
            raise ValueError("cron needs for: how long each window lasts")
        elif self.from_ is not None or self.until is not None:
            raise ValueError("cron goes with for, and with neither from nor until")
        else:
            seconds_of(self.for_)

    def _refuse_unless_once(self) -> None:
        if self.for_ is not None or self.time_zone is not None:
            raise ValueError("for and time_zone go with cron")
        if self.from_ is None:
            raise ValueError("needs from and until, or cron and for")
        if self.until is None:
            raise ValueError("needs until: an open window would hide things for ever")
        if self.until <= self.from_:
            raise ValueError(f"until is not after from ({self.from_.isoformat()})")

    @property
    def once(self) -> tuple[datetime, datetime] | None:
        """From and until; None of what comes by cron."""
        return (self.from_, self.until) if self.from_ and self.until else None

    def recurring(self, time_zone: str) -> Recurring | None:
        """When it comes, where it comes by cron; `time_zone` is the policy's."""
        if self.cron is None or self.for_ is None:
            return None
        length = timedelta(seconds=seconds_of(self.for_))
        return Recurring(self.cron, length, self.time_zone or time_zone)


class TierObjectives(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ratios to reach, above 0 and up to 1.

    `all` for an SLI that tiers make no difference to.
    """

    critical: Decimal | None = None
    important: Decimal | None = None
    optional: Decimal | None = None
    regulated: Decimal | None = None
    all: Decimal | None = None


class Objectives(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Objectives that differ from the usual ones, by SLI."""

    coverage: TierObjectives = TierObjectives()
    freshness: TierObjectives = TierObjectives()
    node_completeness: TierObjectives = TierObjectives()
    edge_completeness: TierObjectives = TierObjectives()
    accuracy: TierObjectives = TierObjectives()
    missing_provenance: TierObjectives = TierObjectives()
    ingestion_lag: TierObjectives = TierObjectives()
    query_latency: TierObjectives = TierObjectives()
    impact_analysis: TierObjectives = TierObjectives()
    error_rate: TierObjectives = TierObjectives()
    unauthorized_access: TierObjectives = TierObjectives()


class Requirements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What must be known of a dataset and of the run that wrote it last, by tier.

    A regulated dataset needs what its tier needs as well.
    """

    regulated: RequiredFields = ("owner", "schema", "code_version")
    critical: RequiredFields = ()
    important: RequiredFields = ()
    optional: RequiredFields = ()

    def of_tier(self, tier: Tier) -> RequiredFields:
        """The fields that this tier needs, regulated or not."""
        return getattr(self, tier)  # type: ignore[no-any-return]


class AccessToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who may ask what of the API. The token itself stays in a file of its own, or is not here.

    Attributes:
        token_file: holds the token; relative to the policy's folder.
        sha256: of the token, in its place.
        namespaces: patterns of the dataset namespaces that it may see.
    """

    name: Text
    token_file: Text | None = None
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | None = None
    roles: tuple[Role, ...] = ("read",)
    namespaces: tuple[Text, ...] = ("*",)
    expires: Instant | None = None


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who answers incidents: the name that stands in the audit log, and their id in Slack."""

    name: Text
    slack: SlackUser


class Access(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nobody but the bearers of these tokens may ask; where it is empty, nobody at all."""

    tokens: tuple[AccessToken, ...] = ()


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """One version of the whole policy. `DEFAULT` holds where there is no file."""

    owners: tuple[Owner, ...] = ()
    datasets: tuple[DatasetRule, ...] = ()
    jobs: tuple[JobRule, ...] = ()
    sources: tuple[Match, ...] = ()
    aliases: tuple[Alias, ...] = ()
    folds: tuple[Fold, ...] = ()
    calendars: tuple[Calendar, ...] = ()
    time_zone: Text = "UTC"
    objectives: Objectives = Objectives()
    requirements: Requirements = Requirements()
    suppressions: tuple[Suppression, ...] = ()
    actions: tuple[ActionRule, ...] = ()
    people: tuple[Person, ...] = ()
    retention_days: Days = DEFAULT_RETENTION_DAYS
    # Never null: an `access:` with nothing below it must not open the API.
    access: Access | msgspec.UnsetType = msgspec.UNSET

    @cached_property
    def hash(self) -> str:
        """Sixteen hex digits that tell one version from another, whatever the file's layout."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()[:16]

    def declared(self) -> tuple[DatasetName, ...]:
        """The datasets that a rule names outright: expected before they are ever seen."""
        rules = [rule.match for rule in self.datasets]
        named = [name for match in [*rules, *self.sources] if (name := dataset_of(match))]
        return tuple(dict.fromkeys(named))

    def expected_edges(self) -> tuple[tuple[DatasetName, DatasetName], ...]:
        """(upstream, downstream) of every edge that a rule for one dataset expects."""
        return tuple(
            (upstream, downstream)
            for rule in self.datasets
            if (downstream := dataset_of(rule.match))
            for text in rule.expect_inputs
            if (upstream := dataset_of(text))
        )

    def overrules(self) -> tuple[tuple[DatasetName, DatasetName], ...]:
        """(name, dataset it is said to be) of every alias.

        The same one twice for one kept apart.
        """
        named = (
            (alias, dataset_of(alias.name), dataset_of(alias.dataset)) for alias in self.aliases
        )
        return tuple(
            (name, name if alias.apart else dataset)
            for alias, name, dataset in named
            if name and dataset
        )

    def objective(self, sli: Sli, tier: str) -> Decimal | None:
        """The ratio to reach: the policy's, else the usual one; none where no one asks for any."""
        own: TierObjectives = getattr(self.objectives, sli.name)
        declared = getattr(own, tier, None) or own.all
        return declared if declared is not None else sli.objective(tier)


DEFAULT = Policy()
