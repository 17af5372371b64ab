"""Access to the API, and the people who handle incidents."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from lineage.policy.values import Instant, Text

TokenRole = Literal["read", "respond", "alerts", "admin"]
SlackUser = Annotated[
    str,
    Meta(
        pattern="^[UW][A-Z0-9]{2,30}$", description="the id of a member in Slack, as in U012AB3CD"
    ),
]
_Sha256 = Annotated[
    str, Meta(pattern="^[0-9a-f]{64}$", description="64 hexadecimal digits in lower case")
]


class AccessToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Access token of the API: its roles and namespaces. The token itself is stored elsewhere.

    Attributes:
        token_file: holds the token; relative to the policy's folder.
        sha256: of the token, in its place.
        namespaces: patterns of the dataset namespaces that it may see.
    """

    name: Text
    token_file: Text | None = None
    sha256: _Sha256 | None = None
    roles: tuple[TokenRole, ...] = ("read",)
    namespaces: tuple[Text, ...] = ("*",)
    expires: Instant | None = None


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Person who handles incidents: the name in the audit log, and the id in Slack."""

    name: Text
    slack: SlackUser


class Access(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tokens that may use the API; without any, nobody may.

    Attributes:
        off: `access: off` in the file: anybody may ask, and the file says so.
    """

    tokens: tuple[AccessToken, ...] = ()
    off: bool = False

    def __post_init__(self) -> None:
        """Reject tokens that would guard nothing."""
        if self.off and self.tokens:
            raise ValueError("off goes with no tokens")
