"""Roles of Lineward: their state, the policy of each, and which service leads."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from lineage.catalog.meta_keys import POLICY_IN_FORCE
from lineage.catalog.reader import CatalogReader
from lineage.process.clock import system_clock
from service.queries.run_shapes import IsoTime
from service.queries.timestamps import iso, short_duration
from service.runtime.data_folder import is_held

if TYPE_CHECKING:  # the policy brings YAML, which `lineward status` cannot wait for
    from lineage.policy.file import PolicyState

RUNNING, WAITING, UNKNOWN = "running", "waiting", "unknown"
_SERVICE = "service"
_STALE_SECONDS = 60.0  # it is written every 5 s
_NOT_WRITTEN = "`lineward up` has not written run/status.json for a minute"
_POLICIES = f"SELECT name, value FROM meta WHERE name LIKE '{POLICY_IN_FORCE}%'"  # noqa: S608 - a constant
_LEASE: Final = (
    "SELECT holder, since, expires_at > {now} AS is_leading FROM lease"
    " WHERE name = 'service' AND epoch > 0"
)


class RoleStatus(msgspec.Struct, frozen=True):
    """Child of `lineward up`."""

    role: str
    state: str  # running | failing | waiting | restarting | stopped | unknown
    pid: int | None
    restarts: int
    failing_since: IsoTime | None = None  # null: it works
    attempts: int = 0  # failed in a row
    error: str | None = None  # of the newest attempt; what it waits for


class RolePolicy(msgspec.Struct, frozen=True):
    """Policy of a role.

    Attributes:
        hash: of the policy in force; null: there is none, and the role does nothing that needs one.
        error: why the policy file as it is now is rejected; null when it is in force.
    """

    role: str
    hash: str | None
    error: str | None


class ServiceLeader(msgspec.Struct, frozen=True):
    """Service that finds incidents and sends notifications.

    Attributes:
        replica: its name; of the last one, where none leads now.
        since: when it began to lead, by the clock of the catalog's database.
        is_leading: its lease has not expired.
    """

    replica: str
    since: IsoTime | None
    is_leading: bool


def roles_of(data_dir: Path, now: datetime | None = None) -> tuple[bool, list[RoleStatus]]:
    """Return the last status of the supervisor; without a supervisor every role is stopped.

    What it has not written for a minute, on a full disk or standing still, is unknown.
    """
    path = data_dir / "run" / "status.json"
    try:
        roles = msgspec.json.decode(path.read_bytes(), type=list[RoleStatus])
        age = (now or system_clock()).timestamp() - path.stat().st_mtime
    except (FileNotFoundError, msgspec.DecodeError):
        return is_held(path.with_name("up.lock")), []
    if not is_held(path.with_name("up.lock")):
        return False, [RoleStatus(r.role, "stopped", None, r.restarts) for r in roles]
    if abs(age) > _STALE_SECONDS:
        return True, [replace(r, state=UNKNOWN, error=_NOT_WRITTEN) for r in roles]
    return True, roles


def role_problem(role: RoleStatus, now: datetime) -> str | None:
    """Return a sentence on a role that does not work; None if it does."""
    if role.state in {WAITING, UNKNOWN}:
        return f"{role.role}: {role.state}: {role.error}"
    if role.failing_since is None:
        return None
    lasted = short_duration(
        max(0.0, (now - datetime.fromisoformat(role.failing_since)).total_seconds())
    )
    tries = f"{role.attempts} attempt{'' if role.attempts == 1 else 's'}"
    return (
        f"{role.role}: failing for {lasted}, {tries}, last error: {role.error},"
        f" see logs/{role.role}.log"
    )


def status_policies(
    own: "PolicyState | None", noted: Mapping[str, RolePolicy] | None = None
) -> list[RolePolicy]:
    """Return by which policy each role goes: `own` of this service, the others as noted."""
    found = dict(noted or {})
    if own is not None:
        found[_SERVICE] = RolePolicy(_SERVICE, own.hash, own.error)
    return [found[role] for role in sorted(found)]


def policies_noted(reader: CatalogReader) -> dict[str, RolePolicy]:
    """Return what each role noted of its policy."""
    rows = reader.rows(_POLICIES)
    noted = ((name.removeprefix(POLICY_IN_FORCE), value) for name, value in rows)
    return {role: _role_policy(role, value) for role, value in noted}


def _role_policy(role: str, noted: str) -> RolePolicy:
    return msgspec.convert({"role": role, **msgspec.json.decode(noted)}, RolePolicy)


def find_leader(reader: CatalogReader) -> ServiceLeader | None:
    """Return which service leads; None: none has led yet."""
    rows = reader.rows(_LEASE.format(now=reader.clock))
    if not rows:
        return None
    (row,) = rows
    return ServiceLeader(row.holder, iso(row.since), bool(row.is_leading))
