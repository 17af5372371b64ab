"""Secret by which the collector knows Lineward's own senders (`lineward ship`, `kafka`, ...).

They alone may say where an event comes from. Where senders bear a token, the token suffices.
"""

import contextlib
import os
import re
import secrets
from pathlib import Path
from typing import Final

from lineage.process.environment import InvalidSettingError

# Both keep their spelling: senders of the release before know no other.
HEADER: Final = "lineward-reader"
FILE: Final = "reader.secret"
_SECRET = re.compile(rb"[!-~]{32,}")


def secret_path(data_dir: Path, chosen: Path | None) -> Path:
    """Return the file of the secret: LINEWARD_SENDER_SECRET_FILE, or one in the data folder."""
    return chosen or data_dir / FILE


def ensure_secret(path: Path) -> bytes:
    """Read the secret; create it where there is none. Only the owner may read the file.

    Raises:
        OSError: it can be neither read nor created.
        InvalidSettingError: the file holds something else.
    """
    with contextlib.suppress(FileNotFoundError):
        return read_sender_secret(path)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_urlsafe(32).encode())
            file.flush()
            os.fsync(file.fileno())
        # Whole or not at all, and never over the file of another process.
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
    return read_sender_secret(path)


def read_sender_secret(path: Path) -> bytes:
    """Read the secret.

    Raises:
        OSError: it cannot be read.
        InvalidSettingError: the file holds something else.
    """
    secret = path.read_bytes().strip()
    if not _SECRET.fullmatch(secret):
        message = (
            f"{path}: expected at least 32 printable characters without blanks; delete the file and"
            " restart the collector to have a new one"
        )
        raise InvalidSettingError(message)
    return secret
