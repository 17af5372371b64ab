"""Leases in the catalog, and the fence around the transactions of a leader.

A fenced engine's `write_transaction` compares the stored epoch as the last statement before the
commit, under a lock that keeps others from taking the lease until then. So all that an epoch wrote
is committed before the next epoch begins, and nothing of it later.
"""

from collections.abc import Callable
from typing import Final

import msgspec
from sqlalchemy import BigInteger, Connection, Engine, literal_column, select, update

from lineage import lease_rules
from lineage.catalog.engine import FENCE, limit_pause, write_transaction
from lineage.catalog.reader import CLOCKS
from lineage.catalog.rows import convert_row
from lineage.catalog.tables import lease
from lineage.catalog.upsert import lock_row
from lineage.lease_rules import LeaseLostError, LeaseRow

# A leader that is paused inside a transaction holds its locks: the server ends that transaction.
PAUSED_SECONDS: Final = 10
_STATE: Final = (lease.c.holder, lease.c.epoch, lease.c.since, lease.c.expires_at)


class LeadershipFence(msgspec.Struct, frozen=True):
    """Check that keeps a former leader from its work.

    Attributes:
        name: of the lease.
        epoch: in which the work began.
        confirm: raises `LeaseLostError` where the epoch is over; for what no transaction can take
            back, such as a message. It asks the catalog only where the lease may have expired.
        pause_seconds: for which a transaction may stand still.
    """

    name: str
    epoch: int
    confirm: Callable[[], None]
    pause_seconds: int = PAUSED_SECONDS

    def check(self, connection: Connection) -> None:
        """Return if the epoch goes on until this transaction ends.

        Raises:
            LeaseLostError: it is over.
        """
        stored = select(lease.c.epoch).where(lease.c.name == self.name)
        found = connection.scalar(stored.with_for_update(read=True))
        if found != self.epoch:
            raise LeaseLostError(f"epoch {self.epoch} of {self.name!r} is over: it is {found} now")


def leading(engine: Engine, fence: LeadershipFence) -> Engine:
    """Return an engine on the same connections that commits in this epoch only."""
    return engine.execution_options(**{FENCE: fence})


def fence_of(engine: Engine) -> LeadershipFence | None:
    """Return the fence of an engine; None: it writes for any replica."""
    return engine.get_execution_options().get(FENCE)


def require_lead(engine: Engine) -> None:
    """Return if the engine's epoch goes on, or if it has none; call it before what is sent.

    Raises:
        LeaseLostError: the epoch is over.
    """
    if (fence := fence_of(engine)) is not None:
        fence.confirm()


def try_take(
    engine: Engine, name: str, holder: str, seconds: float, *, is_start: bool = False
) -> LeaseRow | None:
    """Take a lease that is free, as `take_row` decides; None: another process leads."""
    with engine.connect() as connection:  # a follower asks each second: it writes nothing
        row, now = _read(connection, name)
    if lease_rules.take_row(row, holder, now, seconds, is_start=is_start) is None:
        return None
    return _change(
        engine,
        name,
        lambda row, now: lease_rules.take_row(row, holder, now, seconds, is_start=is_start),
    )


def renew(engine: Engine, name: str, epoch: int, seconds: float) -> LeaseRow | None:
    """Renew the lease of an epoch; None: that epoch is over."""
    return _change(engine, name, lambda row, now: lease_rules.renew_row(row, epoch, now, seconds))


def release(engine: Engine, name: str, epoch: int) -> None:
    """Give the lease up, so that another process takes it at once."""
    _change(engine, name, lambda row, _: lease_rules.release_row(row, epoch))


def _change(
    engine: Engine, name: str, decide: Callable[[LeaseRow, int], LeaseRow | None]
) -> LeaseRow | None:
    nobody = {"name": name, **msgspec.structs.asdict(lease_rules.NEVER_HELD)}
    with write_transaction(engine) as connection:
        if connection.dialect.name == "postgresql":
            limit_pause(connection, PAUSED_SECONDS)
        lock_row(connection, lease, nobody)
        changed = decide(*_read(connection, name))
        if changed is not None:
            values = msgspec.structs.asdict(changed)
            connection.execute(update(lease).where(lease.c.name == name).values(**values))
    return changed


def _read(connection: Connection, name: str) -> tuple[LeaseRow, int]:
    """Return the lease, and the time by the database's clock."""
    now = literal_column(CLOCKS[connection.dialect.name], BigInteger)
    row = connection.execute(select(*_STATE).where(lease.c.name == name)).one_or_none()
    found = lease_rules.NEVER_HELD if row is None else convert_row(LeaseRow, row)
    return found, connection.execute(select(now)).scalar_one()
