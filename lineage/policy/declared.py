"""Edges that the policy declares, by the keys that the catalog has for their datasets."""

from lineage.names.keys import key
from lineage.names.names import fold
from lineage.policy.model import Policy


def declared_edges(policy: Policy) -> set[tuple[int, int]]:
    """(upstream, downstream) keys of the edges that the policy expects."""
    return {(_key(*upper), _key(*lower)) for upper, lower in policy.expected_edges()}


def _key(namespace: str, name: str) -> int:
    folded = fold(namespace, name)
    return key(folded.namespace, folded.name)
