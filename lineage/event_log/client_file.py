"""Reads a file of settings of Kafka's client: TLS, SASL and the like, `name=value` a line."""

from collections.abc import Collection
from pathlib import Path

from lineage.process.environment import InvalidSettingError


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
