"""Structs of a policy file.

`docs/policy.md` describes every field for the people who write it.
"""

import hashlib
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Annotated

import msgspec
from msgspec import Meta

from lineage.names.names import Name
from lineage.policy.access import Access, Person
from lineage.policy.actions import ActionRule
from lineage.policy.fold import Fold
from lineage.policy.objectives import Objectives, Requirements, TierObjectives
from lineage.policy.patterns import PatternParts, dataset_of
from lineage.policy.public_holidays import dates_of
from lineage.policy.recurring import Recurring
from lineage.policy.values import Days, Instant, Minutes, Text, Weekday, seconds_of
from lineage.process.clock import TELLABLE, is_tellable
from lineage.states import Sli, Tier

DEFAULT_RETENTION_DAYS = 90

MatchPattern = Text | PatternParts


class EscalationStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Recipient of an incident that nobody has acknowledged for so many minutes."""

    after_minutes: Minutes
    owner: Text | None = None
    slack: Text | None = None
    pagerduty_key_file: Text | None = None
    notify: tuple[Text, ...] = ()  # URLs of Apprise, or KIND:TARGET of another type of channel


class Owner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Team and its notification channels. The key itself stays in a file of its own."""

    name: Text
    slack: Text | None = None
    pagerduty_key_file: Text | None = None
    escalation: tuple[EscalationStep, ...] = ()
    notify: tuple[Text, ...] = ()  # URLs of Apprise, or KIND:TARGET of another type of channel


class DatasetRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rule for the datasets that `match` matches; other rules decide fields that are left out."""

    match: MatchPattern
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
        """Reject an invalid duration."""
        if self.limit is not None:
            seconds_of(self.limit)


class JobRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Owner of the jobs that `match` matches."""

    match: MatchPattern
    owner: Text


class Alias(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Alias of a dataset, or, with `apart`, two datasets that the symlinks take for one."""

    name: Text
    dataset: Text
    apart: bool = False


class Calendar(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Days on which nothing is expected.

    Attributes:
        public_holidays: countries, parts of countries or exchanges whose holidays count too.
        days_later: of these; a feed that publishes a day's data on the next day has 1.
    """

    name: Text
    time_zone: Text = "UTC"
    days_off: tuple[Weekday, ...] = ()
    holidays: tuple[date, ...] = ()
    public_holidays: tuple[Text, ...] = ()
    days_later: Annotated[int, Meta(ge=0, le=7)] = 0

    def __post_init__(self) -> None:
        """Reject a place whose holidays are not known."""
        for place in self.public_holidays:
            dates_of(place)

    def dates(self) -> tuple[date, ...]:
        """Return all holidays, in order."""
        later = timedelta(days=self.days_later)
        public = (day + later for place in self.public_holidays for day in dates_of(place))
        return tuple(sorted({*self.holidays, *public}))


class Suppression(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"from_": "from", "for_": "for"},
):
    """Window in which matching datasets open no incident: once, or by `cron`.

    A window without cron also counts as a planned backfill.

    Attributes:
        cron: when a window begins: five fields.
        for_: how long each then lasts.
        time_zone: time zone of cron; the policy's by default.
    """

    name: Text
    match: MatchPattern
    from_: Instant | None = None
    until: Instant | None = None
    cron: Text | None = None
    for_: str | int | None = None
    time_zone: Text | None = None

    def __post_init__(self) -> None:
        """Reject a window without an end, or that ends before it begins."""
        if self.cron is None:
            self._reject_unless_once()
        elif self.for_ is None:
            raise ValueError("cron needs for: how long each window lasts")
        elif self.from_ is not None or self.until is not None:
            raise ValueError("cron goes with for, and with neither from nor until")
        else:
            seconds_of(self.for_)

    def _reject_unless_once(self) -> None:
        if self.for_ is not None or self.time_zone is not None:
            raise ValueError("for and time_zone go with cron")
        if self.from_ is None:
            raise ValueError("needs from and until, or cron and for")
        if self.until is None:
            raise ValueError("needs until: an open window would hide things for ever")
        if not (is_tellable(self.from_) and is_tellable(self.until)):
            raise ValueError(f"from and until: {TELLABLE}")
        if self.until <= self.from_:
            raise ValueError(f"until is not after from ({self.from_.isoformat()})")

    @property
    def once(self) -> tuple[datetime, datetime] | None:
        """Return from and until; None of a window by cron."""
        return (self.from_, self.until) if self.from_ and self.until else None

    def recurring(self, time_zone: str) -> Recurring | None:
        """Return the schedule of a window by cron; `time_zone` is the policy's."""
        if self.cron is None or self.for_ is None:
            return None
        length = timedelta(seconds=seconds_of(self.for_))
        return Recurring(self.cron, length, self.time_zone or time_zone)


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Version of the whole policy. `DEFAULT` holds where there is no file."""

    owners: tuple[Owner, ...] = ()
    datasets: tuple[DatasetRule, ...] = ()
    jobs: tuple[JobRule, ...] = ()
    sources: tuple[MatchPattern, ...] = ()
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

    @property
    def guard(self) -> Access | None:
        """Return the access rules of the API; None where anybody may use it."""
        return None if self.access is msgspec.UNSET or self.access.off else self.access

    @cached_property
    def hash(self) -> str:
        """Return sixteen hex digits that identify a version, whatever the file's layout."""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()[:16]

    def declared(self) -> tuple[Name, ...]:
        """Return the datasets that a rule names exactly: expected before they are first seen."""
        rules = [rule.match for rule in self.datasets]
        named = [name for match in [*rules, *self.sources] if (name := dataset_of(match))]
        return tuple(dict.fromkeys(named))

    def expected_edges(self) -> tuple[tuple[Name, Name], ...]:
        """Return (upstream, downstream) of every edge that a rule for one dataset expects."""
        return tuple(
            (upstream, downstream)
            for rule in self.datasets
            if (downstream := dataset_of(rule.match))
            for text in rule.expect_inputs
            if (upstream := dataset_of(text))
        )

    def overrules(self) -> tuple[tuple[Name, Name], ...]:
        """Return (name, its dataset) of every alias.

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
        """Return the ratio to reach: the policy's, else the default; None without an objective."""
        own: TierObjectives = getattr(self.objectives, sli.name)
        declared = getattr(own, tier, None) or own.all
        return declared if declared is not None else sli.objective(tier)


DEFAULT = Policy()
