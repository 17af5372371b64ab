"""Access policy in force: a new version when the policy or a token's file has changed."""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from lineage.policy.file import FileStamp, stamp_of
from lineage.process.clock import Clock, to_micros
from service.api.access.versions import AccessVersion, token_files, version_of
from service.errors import RejectedInputError
from service.runtime.policies import PolicyInForce

if TYPE_CHECKING:
    from lineage.policy import Policy

CATALOG_UNREAD = (
    "access control is unknown: the policy has no `access` section, and the catalog cannot be"
    " read. Requests are rejected until the catalog can be read"
)


class EffectiveAccess(msgspec.Struct, frozen=True):
    """Version that applies to one access, and its time.

    Attributes:
        version: None where the policy could not be read since the service started: nobody may
            ask until it can.
        at: µs; no earlier than the version's beginning, no later than the next one's.
        error: why there is no version.
    """

    version: AccessVersion | None
    at: int
    error: str | None = None


class AccessInForce:
    """Safe for several threads. A wrong file never opens anything: the version before it stays."""

    def __init__(self, policy: PolicyInForce, clock: Clock) -> None:
        self._policy = policy
        self._folder = policy.path.parent if policy.path else Path()
        self._clock = clock
        self._lock = threading.Lock()
        self._taken: tuple[Policy, list[FileStamp]] | None = None
        self._version: AccessVersion | None = None
        self._last_at = 0
        self._unrecorded: list[tuple[int, AccessVersion]] = []

    def current(self) -> EffectiveAccess:
        """Return the policy in force; unchanged files cost one `stat` each."""
        with self._lock:
            error = self._look()
            # One instant for the decision and the version: none falls between two versions.
            self._last_at = max(self._last_at, to_micros(self._clock()))
            return EffectiveAccess(self._version, self._last_at, error)

    def take_unrecorded(self) -> list[tuple[int, AccessVersion]]:
        """Return versions that came into force and were not stored yet, with when they did."""
        with self._lock:
            taken, self._unrecorded = self._unrecorded, []
            return taken

    def give_back(self, versions: list[tuple[int, AccessVersion]]) -> None:
        """Take back versions that could not be stored."""
        with self._lock:
            self._unrecorded = versions + self._unrecorded

    def _look(self) -> str | None:
        try:
            policy = self._policy.current()
        except RejectedInputError as error:
            # There is no policy. An open one may have been in force before the catalog was there.
            self._taken = self._version = None
            return str(error)
        if self._version is None and policy.access is UNSET and not self._policy.can_be_open():
            return CATALOG_UNREAD
        # What the files were before they were read: a later change is seen next time.
        found = (policy, [stamp_of(path) for path in token_files(policy, self._folder)])
        if found != self._taken:
            self._taken = found
            self._take(version_of(policy, self._folder), is_declared=policy.access is not UNSET)
        return None

    def _take(self, version: AccessVersion, *, is_declared: bool) -> None:
        if version != self._version:
            self._version = version
            self._last_at = max(self._last_at + 1, to_micros(self._clock()))
            # Only a policy that says so ends a version that is stored.
            if is_declared:
                self._unrecorded.append((self._last_at, version))
