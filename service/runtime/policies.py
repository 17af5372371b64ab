"""Policy in force in a process of the service: one for all its parts."""

from contextlib import suppress
from functools import cached_property
from pathlib import Path

from lineage.catalog.policy_notes import StoredAccess
from lineage.catalog.trouble import CatalogError
from lineage.policy import DEFAULT, Policy, PolicyError, PolicyFile, load_policy
from lineage.policy.file import SETTLE_SECONDS, AccessBefore, PolicyState, reject_lost_access
from service.errors import RejectedInputError
from service.runtime.settings import Settings


def read_policy(file: Path | None) -> Policy:
    """Return what the file says now, for a command that asks once; without a file, the defaults.

    Raises:
        RejectedInputError: the file is wrong.
    """
    if file is None:
        return DEFAULT
    try:
        return load_policy(file)
    except PolicyError as error:
        raise RejectedInputError(str(error)) from error


def read_accepted_policy(settings: Settings) -> Policy:
    """Return what the file says now, for a command that works on this catalog.

    A catalog that cannot be read is reported by the command itself.

    Raises:
        RejectedInputError: the file is wrong, or it lost the section `access` of the catalog.
    """
    policy, stored = read_policy(settings.policy), StoredAccess(settings.catalog)
    with suppress(CatalogError):
        stored.look()
    try:
        reject_lost_access(policy, settings.policy, was_in_force=stored())
    except PolicyError as error:
        raise RejectedInputError(str(error)) from error
    return policy


class PolicyInForce:
    """Newest valid policy, for several threads at once.

    A process has one, so that its API, pages, metrics, incidents and actions agree.
    """

    def __init__(
        self,
        file: Path | None,
        *,
        settle_seconds: float = SETTLE_SECONDS,
        access_before: AccessBefore = lambda: False,
    ) -> None:
        self.path = file
        self._settle_seconds = settle_seconds
        self._access_before = access_before

    @cached_property
    def _file(self) -> PolicyFile:
        # At its first use: it is wanted by name before the file is there.
        return PolicyFile(
            self.path,
            may_start_wrong=True,
            settle_seconds=self._settle_seconds,
            access_before=self._access_before,
        )

    def can_be_open(self) -> bool:
        """Return whether a policy without the section `access` is known to have lost none."""
        return self._access_before() is not None

    def current(self) -> Policy:
        """Return the policy in force.

        Raises:
            RejectedInputError: the file has been wrong since the process started.
        """
        try:
            return self._file.current()
        except PolicyError as error:
            raise RejectedInputError(str(error)) from error

    def standing(self) -> PolicyState:
        """Return which policy is in force, and why the file as it is now is not."""
        return self._file.standing()
