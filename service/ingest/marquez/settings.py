"""Settings of the Marquez beside us (`LINEWARD_MARQUEZ_…`)."""

import re
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from lineage.process import environment

_URL = re.compile(r"https?://[^\s/?#@]+(/[^\s?#@]*)?")
_TOKEN = re.compile(r"[!-~]+")
_Count = Annotated[int, Meta(ge=1, le=64)]
_Seconds = Annotated[float, Meta(gt=0)]


class MarquezSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Read from `LINEWARD_MARQUEZ_` + field in capitals."""

    url: str | None = None  # none: there is no Marquez
    token_file: Path | None = None
    forward: bool = True
    pull: bool = True
    connections: _Count = 8
    timeout_seconds: _Seconds = 60.0  # an output of 2,000 columns takes it 18 s
    longest_wait_seconds: _Seconds = 30.0  # between two tries of one event
    pull_seconds: _Seconds = 10.0
    probe_seconds: _Seconds = 60.0
    compare_seconds: _Seconds = 3_600.0

    @property
    def base_url(self) -> str:
        """Return the URL that paths are appended to."""
        return (self.url or "").rstrip("/")

    @property
    def authorization(self) -> dict[str, str]:
        """Return the header with the token, where there is one."""
        if self.token_file is None:
            return {}
        return {"Authorization": f"Bearer {_token(self.token_file)}"}


def read_marquez() -> MarquezSettings:
    """Read the settings of this process.

    Raises:
        InvalidSettingError: an unknown variable, a value out of range, an unreadable token.
    """
    settings = environment.read(MarquezSettings, section="MARQUEZ_")
    if settings.url is not None and not _URL.fullmatch(settings.url):
        # Not shown: what is wrong with it may be a password in it.
        message = "LINEWARD_MARQUEZ_URL: expected http://HOST:PORT, without user, query or fragment"
        raise environment.InvalidSettingError(message)
    _ = settings.authorization
    return settings


def _token(file: Path) -> str:
    try:
        token = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"LINEWARD_MARQUEZ_TOKEN_FILE: {error}"
        raise environment.InvalidSettingError(message) from error
    if not _TOKEN.fullmatch(token):
        message = f"LINEWARD_MARQUEZ_TOKEN_FILE: {file}: expected printable ASCII"
        raise environment.InvalidSettingError(message)
    return token
