"""Versions of who may ask what: what a policy's `access:` section comes to, and when it held."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec
import structlog
from sqlalchemy import Connection, select

from lineage.catalog import tables
from lineage.catalog.access_versions import ACCESS_OFF
from lineage.policy import Policy
from lineage.policy.access import AccessToken
from lineage.process.clock import to_micros

_LEAST_TOKEN_BYTES = 16
_log = structlog.get_logger()


class Holder(msgspec.Struct, frozen=True):
    """The bearer of one token.

    Attributes:
        digest: SHA-256 of the token; empty where its file gives none: nobody can show it.
        expires_at: from this instant on the token is none; µs.
    """

    name: str
    digest: bytes
    roles: tuple[str, ...]
    namespaces: tuple[str, ...]
    expires_at: int | None

    @property
    def fingerprint(self) -> str:
        """Tells one token from another, and leads to none."""
        return fingerprint_of(self.digest)


class AccessVersion(msgspec.Struct, frozen=True):
    """One version; `holders` is None where no `access:` section is: anybody may ask."""

    holders: tuple[Holder, ...] | None

    @property
    def content(self) -> str:
        """As it is stored to be judged by: names, fingerprints, roles, namespaces."""
        if self.holders is None:
            return "null"
        stored = [
            {
                "name": holder.name,
                "fingerprint": holder.fingerprint,
                "roles": holder.roles,
                "namespaces": holder.namespaces,
                "expires_at": holder.expires_at,
            }
            for holder in self.holders
        ]
        return msgspec.json.encode(stored).decode()

    @property
    def hash(self) -> str:
        """Sixteen hex digits that tell one version from another; `off` for none."""
        if self.holders is None:
            return ACCESS_OFF
        return hashlib.sha256(self.content.encode()).hexdigest()[:16]


def fingerprint_of(digest: bytes) -> str:
    """Sixteen hex digits of the hash of a token's hash; empty for no token."""
    return hashlib.sha256(digest).hexdigest()[:16] if digest else ""


def version_of(policy: Policy, folder: Path) -> AccessVersion:
    """Return the current policy with the current tokens of its files."""
    if policy.guard is None:
        return AccessVersion(None)
    return AccessVersion(tuple(_holder(token, folder) for token in policy.guard.tokens))


def token_files(policy: Policy, folder: Path) -> list[Path]:
    """Return the files whose change makes another version."""
    tokens = policy.guard.tokens if policy.guard else ()
    return [folder / token.token_file for token in tokens if token.token_file is not None]


def _holder(token: AccessToken, folder: Path) -> Holder:
    expires = None if token.expires is None else to_micros(token.expires)
    return Holder(token.name, _digest(token, folder), token.roles, token.namespaces, expires)


def _digest(token: AccessToken, folder: Path) -> bytes:
    if token.sha256 is not None:
        return bytes.fromhex(token.sha256)
    path = folder / str(token.token_file)
    try:
        text = path.read_bytes().strip()
    except OSError as error:
        _log.error("access_token_unreadable", token=token.name, file=str(path), error=str(error))
        return b""
    if len(text) < _LEAST_TOKEN_BYTES:
        reason = f"shorter than {_LEAST_TOKEN_BYTES} bytes"
        _log.error("access_token_unusable", token=token.name, file=str(path), reason=reason)
        return b""
    return hashlib.sha256(text).digest()


def store(connection: Connection, versions: Iterable[tuple[int, AccessVersion]]) -> None:
    """Keep (in force from, version) of those that differ from the one before."""
    table = tables.access_version
    newest = select(table.c.hash).order_by(table.c.in_force_from.desc()).limit(1)
    last = connection.scalar(newest) or ACCESS_OFF
    for since, version in versions:
        if version.hash != last:
            last = version.hash
            row = {"in_force_from": since, "hash": last, "content": version.content}
            connection.execute(table.insert(), row)
