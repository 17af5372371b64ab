"""Versions of the access rules: the tokens of a policy's section `access`, and when they held."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec
import structlog
from sqlalchemy import Connection, select

from lineage.catalog import tables
from lineage.catalog.policy_notes import ACCESS_OFF
from lineage.policy import Policy
from lineage.policy.access import AccessToken
from lineage.process.clock import to_micros

_LEAST_TOKEN_BYTES = 16
_log = structlog.get_logger()


class Holder(msgspec.Struct, frozen=True):
    """Holder of one token.

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
        """Return digits that identify a token, and from which no token can be derived."""
        return fingerprint_of(self.digest)


class AccessVersion(msgspec.Struct, frozen=True):
    """Version of the access rules; `holders` is None without an `access:` section: open to all."""

    holders: tuple[Holder, ...] | None

    @property
    def content(self) -> str:
        """Return the stored form, by which accesses are judged."""
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
        """Return 16 hex digits that identify the version; `off` for none."""
        if self.holders is None:
            return ACCESS_OFF
        return hashlib.sha256(self.content.encode()).hexdigest()[:16]


def fingerprint_of(digest: bytes) -> str:
    """Return 16 hex digits of the hash of a token's hash; an empty text for no token."""
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


def store_versions(connection: Connection, versions: Iterable[tuple[int, AccessVersion]]) -> None:
    """Keep (in force from, version) of those that differ from the one before."""
    table = tables.access_version
    newest = select(table.c.hash).order_by(table.c.in_force_from.desc()).limit(1)
    last = connection.scalar(newest) or ACCESS_OFF
    for since, version in versions:
        if version.hash != last:
            last = version.hash
            row = {"in_force_from": since, "hash": last, "content": version.content}
            connection.execute(table.insert(), row)
