"""What actions work with: handed over by whoever calls them, so that tests hand over fakes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import msgspec
from sqlalchemy import Engine

from lineage.lake.storage import Lake
from lineage.policy.model import Policy
from runbooks.actions.audit import Via
from runbooks.actions.kubernetes import Kubernetes


class Collector(Protocol):
    """The collector, as those who post to it see it.

    Both raise `errors.FailedActionError` when it does not answer; the same call again repeats
    nothing.
    """

    def post(self, bodies: Sequence[bytes], origin: str) -> list[str]:
        """Events, marked with an origin of `lineage.origins`; why some were refused."""
        ...

    def requeue(self, body: bytes, origin: str, number: int) -> str | None:
        """A refused body once more: taken, its row `number` goes with the same commit.

        Returns:
            Why it is refused again; None: it was taken.
        """
        ...


class Affected(msgspec.Struct, frozen=True):
    """A dataset downstream, and whose it is."""

    namespace: str
    name: str
    tier: str
    owner: str | None
    state: str


class Downstream(msgspec.Struct, frozen=True):
    """What is made of a dataset. `cut`: why there is more than is listed."""

    namespace: str
    name: str
    state: str
    affected: tuple[Affected, ...]
    cut: str | None = None


class Graph(Protocol):
    """The lineage graph, as it is now."""

    def downstream(self, dataset: str, namespace: str | None) -> Downstream:
        """Of a dataset, by its name as people write it.

        Raises:
            errors.InvalidActionError: there is none of that name, or there are several.
        """
        ...


class Supervised(Protocol):
    """The roles that `lineward up` runs on the data folder."""

    def roles(self) -> dict[str, str]:
        """State by role; empty when no supervisor runs there."""
        ...

    def ask_to_restart(self, role: str) -> None:
        """Have the supervisor stop the role, and start it again."""
        ...


class Statement(msgspec.Struct, frozen=True):
    """Names of tables that one SQL statement reads and writes, in lower case."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


class Sql(Protocol):
    """Reads SQL."""

    def statements(self, text: str, dialect: str) -> list[Statement]:
        """What each statement touches; nothing where it cannot be read."""
        ...


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """All of it.

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
    graph: Graph
    supervised: Supervised
    sql: Sql
    kubernetes: Kubernetes | None = None

    @property
    def spool(self) -> Path:
        """The collector's; nobody but the collector writes it."""
        return self.data_dir / "spool.db"
