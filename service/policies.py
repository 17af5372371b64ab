"""The policy that a process of the service goes by: one for all that it does."""

from functools import cached_property
from pathlib import Path

from lineage.policy import DEFAULT, Policy, PolicyError, PolicyFile, load
from lineage.policy.file import SETTLE_SECONDS, Standing
from service.errors import RefusedInputError


def policy_of(file: Path | None) -> Policy:
    """Return what the file says now, for a command that asks once; without a file, the defaults.

    Raises:
        RefusedInputError: the file is wrong.
    """
    if file is None:
        return DEFAULT
    try:
        return load(file)
    except PolicyError as error:
        raise RefusedInputError(str(error)) from error


class PolicyInForce:
    """The newest valid policy, for several threads at once.

    A process has one, so that its API, pages, metrics, incidents and actions agree.
    """

    def __init__(self, file: Path | None, *, settle_seconds: float = SETTLE_SECONDS) -> None:
        self.path = file
        self._settle_seconds = settle_seconds

    @cached_property
    def _file(self) -> PolicyFile:
        # At its first use: it is wanted by name before the file is there.
        return PolicyFile(self.path, may_start_wrong=True, settle_seconds=self._settle_seconds)

    def current(self) -> Policy:
        """Return the policy in force.

        Raises:
            RefusedInputError: the file has been wrong since the process started.
        """
        try:
            return self._file.current()
        except PolicyError as error:
            raise RefusedInputError(str(error)) from error

    def standing(self) -> Standing:
        """Return which policy is in force, and why the file as it is now is not."""
        return self._file.standing()
