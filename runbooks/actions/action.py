"""Action: it plans what it would do, and does it on request, with dependencies that it is passed.

The caller passes the dependencies, so that tests can pass fakes.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import msgspec
from sqlalchemy import Engine

from alerts.operator_actions.audit import Via
from lineage.lake.storage import Lake
from lineage.policy.model import Policy
from lineage.process.clock import TELLABLE, is_tellable
from runbooks.actions.errors import InvalidActionError
from runbooks.actions.kubernetes import Kubernetes
from runbooks.actions.summaries import SUMMARIES


class Collector(Protocol):
    """Collector as its clients see it.

    Both raise `errors.FailedActionError` when it does not answer; the same call again repeats
    nothing.
    """

    def post(self, bodies: Sequence[bytes], origin: str) -> list[str]:
        """Post events, marked with an origin of `lineage.origins`; return reasons of rejections."""
        ...

    def requeue(self, body: bytes, origin: str, number: int) -> str | None:
        """Post a rejected body again: if accepted, its row `number` goes with the same commit.

        Returns:
            Why it is rejected again; None: it was accepted.
        """
        ...


class Affected(msgspec.Struct, frozen=True):
    """Downstream dataset and its owner."""

    namespace: str
    name: str
    tier: str
    owner: str | None
    state: str


class Downstream(msgspec.Struct, frozen=True):
    """Downstream datasets of a dataset. `cut`: why the list is incomplete."""

    namespace: str
    name: str
    state: str
    affected: tuple[Affected, ...]
    cut: str | None = None


class LineageGraph(Protocol):
    """Lineage graph, as it is now."""

    def downstream(self, dataset: str, namespace: str | None) -> Downstream:
        """Return the downstream of a dataset, by its name as people write it.

        Raises:
            errors.InvalidActionError: there is none of that name, or there are several.
        """
        ...


class Supervised(Protocol):
    """Roles that `lineward up` runs on the data folder."""

    def roles(self) -> dict[str, str]:
        """Return the state of each role; empty when no supervisor runs there."""
        ...

    def ask_to_restart(self, role: str) -> None:
        """Have the supervisor stop the role, and start it again."""
        ...


class SqlTables(msgspec.Struct, frozen=True):
    """Names of tables that one SQL statement reads and writes, in lower case."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


class Sql(Protocol):
    """Parser of SQL statements."""

    def statements(self, text: str, dialect: str) -> list[SqlTables]:
        """Return the tables of each statement; nothing where it cannot be parsed."""
        ...


class ActionContext(msgspec.Struct, frozen=True, kw_only=True):
    """Dependencies of all actions.

    Attributes:
        engine: of the catalog.
        data_dir: spool and run files are below it.
        lake: the pipeline's.
        now: µs.
        who: asks, for rows and notices that bear a name.
        kubernetes: None where none is configured.
    """

    engine: Engine
    data_dir: Path
    lake: Lake
    now: int
    who: str
    via: Via
    policy: Policy
    collector: Collector
    graph: LineageGraph
    supervised: Supervised
    sql: Sql
    kubernetes: Kubernetes | None = None

    @property
    def spool(self) -> Path:
        """Return the path of the collector's spool; only the collector writes it."""
        return self.data_dir / "spool.db"


class ActionPlan(msgspec.Struct, frozen=True):
    """Plan of an action; making it changes nothing.

    Attributes:
        does: sentences, with figures.
        figures: the same, to be read by machines.
        cautions: what to know before.
    """

    does: tuple[str, ...]
    figures: Mapping[str, int] = {}
    cautions: tuple[str, ...] = ()


class Done(msgspec.Struct, frozen=True):
    """Result of an action. `is_whole`: all of it was done; `did` names the failed parts."""

    did: tuple[str, ...]
    figures: Mapping[str, int] = {}
    is_whole: bool = True


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """Action of a runbook.

    Attributes:
        name: a key of `SUMMARIES`.
        arguments: struct of what it is asked with.
        plan: of arguments and the context, without any change. Raises ActionError.
        perform: likewise, and does it. Raises ActionError.
    """

    name: str
    arguments: type[msgspec.Struct]
    plan: Callable[[Any, ActionContext], ActionPlan]
    perform: Callable[[Any, ActionContext], Done]

    @property
    def says(self) -> str:
        """Return in one sentence what it does."""
        return SUMMARIES[self.name]


def in_utc(instant: datetime, place: str) -> datetime:
    """Return the same instant in UTC, by whose days the lake is kept.

    Args:
        instant: in any zone.
        place: what it was given as, for an error.

    Raises:
        InvalidActionError: it is of years that nobody means.
    """
    if not is_tellable(instant):
        raise InvalidActionError(f"{place}: {TELLABLE}, got {instant.isoformat()}")
    return instant.astimezone(UTC)
