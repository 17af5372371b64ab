"""Decision on which process leads: rules over the row of a lease, by the database's clock.

A process takes a lease that is free and renews it while it leads. Each taking begins a new epoch.
Transactions of a leader check the epoch (`lineage.catalog.leases`), so that a process that was
paused, and wakes after another one took the lease, changes nothing.

All times are µs of the database's clock: no clock of a process matters.
"""

from typing import Final

import msgspec
from msgspec.structs import replace

from lineage.process.clock import SECOND_MICROS


class LeaseRow(msgspec.Struct, frozen=True):
    """Stored state of a lease.

    Attributes:
        holder: name of the process that leads, or led last.
        epoch: grows whenever a process begins to lead.
        since: when the holder began to lead.
        expires_at: the lease is free from then on, unless it is renewed.
    """

    holder: str
    epoch: int
    since: int
    expires_at: int


NEVER_HELD: Final = LeaseRow("", 0, 0, 0)


class LeaseLostError(Exception):
    """Error of a process that no longer leads: it must not finish what it does as the leader."""


def take_row(
    row: LeaseRow, holder: str, now: int, seconds: float, *, is_start: bool = False
) -> LeaseRow | None:
    """Return the row of a new epoch of this process; None: another process holds the lease.

    Args:
        row: as it is stored.
        holder: name of this process.
        now: by the database's clock.
        seconds: how long a lease lasts without renewal.
        is_start: this process has just started and never led. A lease under its own name is then
            of a process that has ended, and need not expire.
    """
    is_own = is_start and row.holder == holder
    if not is_own and not is_free(row, now, seconds):
        return None
    return LeaseRow(holder, row.epoch + 1, now, now + _micros(seconds))


def renew_row(row: LeaseRow, epoch: int, now: int, seconds: float) -> LeaseRow | None:
    """Return the row with a later end; None: the lease was taken or given up since this epoch.

    A lease that has expired is renewed while nobody else has taken it.
    """
    if row.epoch != epoch or row.expires_at == 0:
        return None
    return replace(row, expires_at=now + _micros(seconds))


def release_row(row: LeaseRow, epoch: int) -> LeaseRow | None:
    """Return the row of a lease that another process may take at once; None: it is not ours."""
    return replace(row, expires_at=0) if row.epoch == epoch else None


def is_free(row: LeaseRow, now: int, seconds: float) -> bool:
    """Return whether the lease has expired, or ends later than any renewal could have set.

    Such an end was set before the database's clock was set back, perhaps by a year.
    """
    return row.expires_at <= now or row.expires_at > now + 2 * _micros(seconds)


def _micros(seconds: float) -> int:
    return int(seconds * SECOND_MICROS)
