"""Secrets stay in files, and are read when they are needed."""

from pathlib import Path


class MissingSecretError(ValueError):
    """The file cannot be read, or holds nothing."""


def read_secret(path: Path) -> str:
    """What the file holds, without the space around it.

    Raises:
        NoSecretError: names the file.
    """
    try:
        secret = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise MissingSecretError(f"{path}: cannot be read ({type(error).__name__})") from error
    if not secret:
        raise MissingSecretError(f"{path}: is empty; write the secret into it")
    return secret
