"""Dependencies of actions: passed by the caller, so that tests can pass fakes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec
from sqlalchemy import Engine

from alerts.operator_actions.audit import Via
from lineage.lake.storage import Lake
from lineage.policy.model import Policy
from runbooks.actions.kubernetes import Kubernetes


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
        """State by role; empty when no supervisor runs there."""
        ...

    def ask_to_restart(self, role: str) -> None:
        """Have the supervisor stop the role, and start it again."""
        ...


class SqlTables(msgspec.Struct, frozen=True):
    """Names of tables that one SQL statement reads and writes, in lower case."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


class Sql(Protocol):
    """Reads SQL."""

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
