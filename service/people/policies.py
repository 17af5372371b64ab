"""The policy as those who answer incidents need it: its time zone, its people, its windows."""

import threading

from lineage.policy import DEFAULT, Policy, PolicyError, PolicyFile, load
from service.errors import RefusedInputError
from service.settings import Settings


def policy_of(settings: Settings) -> Policy:
    """The policy of these settings, as it is now.

    Raises:
        RefusedInputError: the file is wrong.
    """
    if settings.policy is None:
        return DEFAULT
    try:
        return load(settings.policy)
    except PolicyError as error:
        raise RefusedInputError(str(error)) from error


class PolicyInForce:
    """The newest policy that was right, for several threads at once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._file: PolicyFile | None = None

    def current(self) -> Policy:
        """What holds now.

        Raises:
            RefusedInputError: the file is wrong, and there is no older one.
        """
        with self._lock:
            try:
                self._file = self._file or PolicyFile(self._settings.policy)
            except PolicyError as error:
                raise RefusedInputError(str(error)) from error
            return self._file.current()
