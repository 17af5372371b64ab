"""URL of the catalog, with a password that is in a file of its own."""

from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from lineage.process.environment import InvalidSettingError

_FILE = "LINEWARD_CATALOG_PASSWORD_FILE"


def add_password(url: str | None, file: Path | None) -> str | None:
    """Return the URL with the password of the file in it; the URL itself where there is no file.

    Raises:
        InvalidSettingError: the file cannot be read, or the URL has no user, or a password.
    """
    if file is None:
        return url
    parts = urlsplit(url or "")
    # Neither message has the URL: it may hold a password.
    if not parts.username or parts.password is not None:
        message = f"{_FILE}: expected a user and no password in LINEWARD_CATALOG_URL"
        raise InvalidSettingError(message)
    user, _, host = parts.netloc.rpartition("@")
    netloc = f"{user}:{quote(_read(file), safe='')}@{host}"
    return urlunsplit(parts._replace(netloc=netloc))


def _read(file: Path) -> str:
    try:
        password = file.read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettingError(f"{_FILE}: cannot read {file}: {error}") from error
    if not password:
        raise InvalidSettingError(f"{_FILE}: {file} is empty")
    return password
