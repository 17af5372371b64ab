"""Settings in files of their own: the catalog's password, and settings of Kafka's client."""

from collections.abc import Collection
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from lineage.process.environment import InvalidSettingError

_VARIABLE = "LINEWARD_CATALOG_PASSWORD_FILE"


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
        message = f"{_VARIABLE}: expected a user and no password in LINEWARD_CATALOG_URL"
        raise InvalidSettingError(message)
    user, _, host = parts.netloc.rpartition("@")
    netloc = f"{user}:{quote(_read_password(file), safe='')}@{host}"
    return urlunsplit(parts._replace(netloc=netloc))


def _read_password(file: Path) -> str:
    try:
        password = file.read_text(encoding="utf-8").strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettingError(f"{_VARIABLE}: cannot read {file}: {error}") from error
    if not password:
        raise InvalidSettingError(f"{_VARIABLE}: {file} is empty")
    return password


def read_client_file(file: Path | None, variable: str, ours: Collection[str]) -> dict[str, str]:
    """Return the settings of the file; none without a file.

    Args:
        file: as librdkafka names its settings.
        variable: that names the file, for messages.
        ours: settings that the file may not have.

    Raises:
        InvalidSettingError: the file cannot be read, or has a line that is no setting, or one of
            ours.
    """
    if file is None:
        return {}
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSettingError(f"{variable}: cannot be read: {error}") from error
    numbered = [(f"{variable}: {file}:{n}", line.strip()) for n, line in enumerate(lines, start=1)]
    return dict(_setting(place, line, ours) for place, line in numbered if line and line[0] != "#")


def _setting(place: str, line: str, ours: Collection[str]) -> tuple[str, str]:
    name, sign, value = (part.strip() for part in line.partition("="))
    # The line may hold a password: only its name is ever shown.
    if not sign or not name:
        raise InvalidSettingError(f"{place}: expected name=value")
    if name in ours:
        raise InvalidSettingError(f"{place}: {name[:80]} is not yours to set")
    return name, value
