"""Epoch of a role: a number that each start of the role raises.

A process that was taken for dead and comes back has an older epoch, and its transactions fail.
"""

from typing import Final

from sqlalchemy import Connection, select

from lineage.catalog.tables import role_epoch
from lineage.catalog.upsert import fold_rows

PIPELINE: Final = "pipeline"


class StaleEpochError(Exception):
    """Error of a process whose role has a newer process: it writes nothing any more."""


def read_epoch(connection: Connection, role: str) -> int:
    """Return the epoch of the process that started last; 0 where none has."""
    found = connection.scalar(select(role_epoch.c.epoch).where(role_epoch.c.role == role))
    return found or 0


def begin_epoch(connection: Connection, role: str, *, above: int, now: int) -> int:
    """Return a new epoch, from which on all older ones are stale.

    Args:
        connection: in a transaction for which writers of the role wait.
        role: that starts.
        above: an epoch that is known from elsewhere, such as from files of a lost catalog.
        now: in µs.
    """
    epoch = max(read_epoch(connection, role), above) + 1
    fold_rows(connection, role_epoch, [{"role": role, "epoch": epoch, "began_at": now}])
    return epoch


def check_epoch(connection: Connection, role: str, epoch: int) -> None:
    """Return if no newer process of the role has started.

    Args:
        connection: in the transaction that is to be fenced.
        role: of this process.
        epoch: of this process.

    Raises:
        StaleEpochError: a newer process has started.
    """
    newest = read_epoch(connection, role)
    if newest != epoch:
        raise StaleEpochError(
            f"another {role} works on this catalog: its epoch is {newest}, and this process has"
            f" {epoch}. This process stops. Make sure that one {role} runs."
        )
