"""Policy in force: its file is read again after a change; an invalid change has no effect."""

import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock

import msgspec
import structlog

from lineage.policy.half_written import FileVersion, reject_half_written
from lineage.policy.model import DEFAULT, Policy
from lineage.policy.reading import PolicyError, parse_policy

# An editor, `helm template >` or a checkout writes in steps: a file at rest is whole.
SETTLE_SECONDS = 1.0
_IS_GONE = "the section access is gone: restore it (`access: off` opens the API to everybody)"
_NOT_SET = (
    "LINEWARD_POLICY is not set, and the policy in force before had the section access: set"
    " LINEWARD_POLICY to the policy file"
)
FileStamp = tuple[int, int, int] | None
# Whether access was in force before this process; None: not known yet.
AccessBefore = Callable[[], bool | None]
_log = structlog.get_logger(__name__)


class PolicyState(msgspec.Struct, frozen=True):
    """State of a role's policy file.

    Attributes:
        hash: of the policy in force; None: there is none yet.
        error: why the file as it is now is rejected; None when it is in force.
    """

    hash: str | None
    error: str | None


class PolicyFile:
    """Policy in force, for several threads at once.

    Attributes:
        error: why the file as it is now is rejected; None when it is in force.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        may_start_wrong: bool = False,
        settle_seconds: float = SETTLE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
        access_before: AccessBefore = lambda: False,
    ) -> None:
        """Read the file; without one, the defaults hold.

        Raises:
            PolicyError: the file is wrong and must not be.
        """
        self._path = path
        self._access_before = access_before
        self._has_read_access = False
        self._settle_seconds = settle_seconds
        self._monotonic = monotonic
        self._lock = Lock()
        self._text = ""
        self._policy: Policy | None = DEFAULT if path is None else None
        self.error: str | None = None
        self._stamp = self._seen = stamp_of(path)
        self._seen_at = monotonic()
        if path is not None:
            self._take(path)
        if not may_start_wrong:
            self.current()

    def current(self) -> Policy:
        """Return the newest valid policy; one `stat` when nothing changed.

        Raises:
            PolicyError: the file has been wrong since the process started.
        """
        with self._lock:
            if self._path is not None:
                self._look(self._path)
            if self._policy is None:
                raise PolicyError(self.error)
            self._require_access(self._policy)
            return self._policy

    def _require_access(self, policy: Policy) -> None:
        """Reject a first policy without `access` where access was in force before the process."""
        if policy.access is not msgspec.UNSET:
            self._has_read_access = True
        elif not self._has_read_access:
            reject_lost_access(policy, self._path, was_in_force=self._access_before())

    def standing(self) -> PolicyState:
        """Return which policy is in force, and why the file as it is now is not."""
        try:
            return PolicyState(self.current().hash, self.error)
        except PolicyError as error:
            return PolicyState(None, str(error))

    def _look(self, path: Path) -> None:
        stamp, now = stamp_of(path), self._monotonic()
        if stamp != self._seen:
            self._seen, self._seen_at = stamp, now
        if stamp != self._stamp and now - self._seen_at >= self._settle_seconds:
            self._stamp = stamp
            self._take(path)

    def _take(self, path: Path) -> None:
        try:
            text = _text(path)
            policy = parse_policy(text, path.name)
            self._reject_worse(FileVersion(text, policy), path)
        except PolicyError as error:
            self.error = str(error)
            _log.error("policy_rejected", error=self.error, is_older_in_force=bool(self._policy))
            return
        self._text, self._policy, self.error = text, policy, None
        _log.info("policy_in_force", file=str(path), hash=policy.hash)

    def _reject_worse(self, new: FileVersion, path: Path) -> None:
        """Reject a version that opens the API or may be half-written; a start has none before."""
        if self._policy is None:
            return
        was_in_force = self._policy.guard is not None
        reject_lost_access(new.policy, path, was_in_force=was_in_force)
        reject_half_written(FileVersion(self._text, self._policy), new, path.name)


def stamp_of(path: Path | None) -> FileStamp:
    """Return what distinguishes one content of a file from the next; None without a file."""
    if path is None:
        return None
    try:
        status = path.stat()
    except OSError:
        return None
    # A file renamed into place may have an older time: its inode identifies it.
    return status.st_mtime_ns, status.st_size, status.st_ino


def reject_lost_access(policy: Policy, path: Path | None, *, was_in_force: bool | None) -> None:
    """Reject a policy without the section `access` where access was in force before.

    Raises:
        PolicyError: the section is gone.
    """
    if was_in_force and policy.access is msgspec.UNSET:
        raise PolicyError(f"{path.name}: {_IS_GONE}" if path else _NOT_SET)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path.name}: cannot be read: {error}"
        raise PolicyError(message) from error
