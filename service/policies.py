"""The policy that the service goes by: as its file is now, or the newest that was right."""

import threading
from pathlib import Path

from lineage.policy import DEFAULT, Policy, PolicyError, PolicyFile, load
from service.errors import RefusedInputError


def policy_of(file: Path | None) -> Policy:
    """What the file says now; without a file, the defaults.

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
    """The newest policy that was right, for several threads at once."""

    def __init__(self, file: Path | None) -> None:
        self._path = file
        self._lock = threading.Lock()
        self._file: PolicyFile | None = None

    def current(self) -> Policy:
        """What holds now.

        Raises:
            RefusedInputError: the file is wrong, and there is no older one.
        """
        with self._lock:
            try:
                self._file = self._file or PolicyFile(self._path)
            except PolicyError as error:
                raise RefusedInputError(str(error)) from error
            return self._file.current()
