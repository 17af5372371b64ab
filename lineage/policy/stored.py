"""Encodes the last valid policy for the catalog, without permissions."""

import msgspec

from lineage.policy.model import Policy


class _Stored(msgspec.Struct, frozen=True):
    hash: str
    policy: Policy


def encode_policy(policy: Policy) -> str:
    """Return the policy as JSON, without `access` and `people`."""
    # What a restored policy does not have it cannot let in.
    public = msgspec.structs.replace(policy, access=msgspec.UNSET, people=())
    return msgspec.json.encode(_Stored(policy.hash, public)).decode()


def decode_policy(text: str) -> Policy:
    """Return the policy that `encode_policy` stored, under the hash of the whole one.

    Raises:
        msgspec.ValidationError: another release stored the policy, and this one cannot read it.
    """
    stored = msgspec.json.decode(text, type=_Stored)
    # Notifications compare hashes: another one would mean that every owner may have changed.
    stored.policy.__dict__["hash"] = stored.hash
    return stored.policy
