"""The access policy in force: read again when the policy or a token's file changed."""

import threading
from pathlib import Path

import msgspec
import structlog

from lineage.clock import Clock, to_micros
from lineage.policy import DEFAULT, Policy, PolicyError, load
from service.access.versions import AccessVersion, token_files, version_of

_log = structlog.get_logger()
_Stamp = tuple[tuple[int, int, int] | None, ...]


class Standing(msgspec.Struct, frozen=True):
    """The version that holds for one access, and the instant of it.

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

    def __init__(self, path: Path | None, clock: Clock) -> None:
        self._path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._stamp: _Stamp | None = None
        self._files: list[Path] = []
        self._version: AccessVersion | None = None
        self._error: str | None = None
        self._last_at = 0
        self._unrecorded: list[tuple[int, AccessVersion]] = []

    def current(self) -> Standing:
        """What holds now; a `stat` for the policy and each token's file when nothing changed."""
        with self._lock:
            stamp = self._stamp_now()
            if stamp != self._stamp:
                self._reload()
                # What the files were before they were read: a later change is seen next time.
                self._stamp = stamp if len(stamp) == 1 + len(self._files) else None
            # One instant for the decision and the version: none falls between two versions.
            self._last_at = max(self._last_at, to_micros(self._clock()))
            return Standing(self._version, self._last_at, self._error)

    def take_unrecorded(self) -> list[tuple[int, AccessVersion]]:
        """Versions that came into force and were not stored yet, with when they did."""
        with self._lock:
            taken, self._unrecorded = self._unrecorded, []
            return taken

    def give_back(self, versions: list[tuple[int, AccessVersion]]) -> None:
        """They could not be stored."""
        with self._lock:
            self._unrecorded = versions + self._unrecorded

    def _reload(self) -> None:
        try:
            policy = DEFAULT if self._path is None else load(self._path)
        except PolicyError as error:
            _log.error("access_policy_refused", error=str(error), kept=self._version is not None)
            self._error = str(error)
            return
        self._error = None
        self._take(policy)

    def _take(self, policy: Policy) -> None:
        folder = Path() if self._path is None else self._path.parent
        self._files = token_files(policy, folder)
        version = version_of(policy, folder)
        if version != self._version:
            self._version = version
            self._last_at = max(self._last_at + 1, to_micros(self._clock()))
            self._unrecorded.append((self._last_at, version))

    def _stamp_now(self) -> _Stamp:
        paths = [] if self._path is None else [self._path]
        return tuple(_stamp_of(path) for path in [*paths, *self._files]) or (None,)


def _stamp_of(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
