"""The policy file as a running process sees it: read again when it changed, never for the worse."""

from pathlib import Path

from lineage.policy.model import DEFAULT, Policy
from lineage.policy.reading import PolicyError, parse


class PolicyFile:
    """The policy in force. Not for several threads at once.

    Attributes:
        error: why the file as it is now is not in force; None when it is.
    """

    def __init__(self, path: Path | None) -> None:
        """Read the file; without one, the defaults hold.

        Raises:
            PolicyError: the file is wrong, and there is no older one to keep.
        """
        self._path = path
        self._stamp = self._stamp_now()
        self._policy = DEFAULT if path is None else parse(_text(path), path.name)
        self.error: str | None = None

    def current(self) -> Policy:
        """The newest policy that was right; one `stat` when nothing changed."""
        stamp = self._stamp_now()
        if self._path is not None and stamp != self._stamp:
            self._stamp = stamp
            self._reload(self._path)
        return self._policy

    def _reload(self, path: Path) -> None:
        try:
            self._policy = parse(_text(path), path.name)
            self.error = None
        except PolicyError as error:
            self.error = str(error)

    def _stamp_now(self) -> tuple[int, int, int] | None:
        if self._path is None:
            return None
        try:
            status = self._path.stat()
        except OSError:
            return None
        # A file renamed into place may have an older time: its inode tells it apart.
        return status.st_mtime_ns, status.st_size, status.st_ino


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path.name}: cannot be read: {error}"
        raise PolicyError(message) from error
