"""Warnings about a valid policy: what it says without effect, and whom it cannot notify."""

from pathlib import Path
from typing import Final

from lineage.policy.model import EscalationStep, Owner, Policy

_FOR_ALL_NAMESPACES: Final = frozenset({"respond", "alerts", "admin"})
_TO_FALLBACK: Final = "go to LINEWARD_DELIVERY_FALLBACK; if it is not set, no person is notified"


def token_gaps(policy: Policy, folder: Path) -> list[str]:
    """Return token files that do not exist here, and roles without effect: warnings.

    Args:
        policy: of which.
        folder: of the policy's file.
    """
    return [*_missing_files(policy, folder), *_roles_without_effect(policy)]


def _missing_files(policy: Policy, folder: Path) -> list[str]:
    tokens = policy.guard.tokens if policy.guard else ()
    return [
        f"access.tokens[{i}].token_file: {token.token_file} does not exist here; the token is not"
        " valid until it does"
        for i, token in enumerate(tokens)
        if token.token_file is not None and not (folder / token.token_file).is_file()
    ]


def _roles_without_effect(policy: Policy) -> list[str]:
    tokens = policy.guard.tokens if policy.guard else ()
    return [
        f"access.tokens[{i}].roles: {role} needs all namespaces; with these, its requests are"
        " rejected with 403"
        for i, token in enumerate(tokens)
        if "*" not in token.namespaces
        for role in token.roles
        if role in _FOR_ALL_NAMESPACES
    ]


def not_in_force(policy: Policy) -> list[str]:
    """Return the policy's keys that are checked but have no effect yet."""
    declared = {"datasets[].pii": any(rule.pii for rule in policy.datasets)}
    return [name for name, is_declared in declared.items() if is_declared]


def unreachable_owners(policy: Policy, platform: str) -> list[str]:
    """Return the owners and escalation steps that cannot be notified: a warning, not an error.

    Args:
        policy: of which.
        platform: the owner of Lineward itself, and of what has no owner.
    """
    reached = {owner.name for owner in policy.owners if _is_reached(owner)}
    found = [
        f"owners[{i}]: {owner.name!r} has no slack, pagerduty_key_file or notify:"
        f" {_instead_of(owner.name, platform, reached)}"
        for i, owner in enumerate(policy.owners)
        if owner.name not in reached
    ]
    if all(owner.name != platform for owner in policy.owners):
        unowned = "incidents without an owner, and those of Lineward itself,"
        missing = f"no owner is named {platform!r} (LINEWARD_ALERTS_PLATFORM): add one. Until then"
        found.insert(0, f"owners: {missing}, {unowned} {_TO_FALLBACK}")
    steps = [
        (f"owners[{i}].escalation[{j}]", step)
        for i, owner in enumerate(policy.owners)
        for j, step in enumerate(owner.escalation)
    ]
    return found + [
        f"{path}: notifies nobody: add a slack, a pagerduty_key_file, a notify, or an owner"
        " who has one"
        for path, step in steps
        if not (_is_reached(step) or step.owner in reached)
    ]


def _instead_of(owner: str, platform: str, reached: set[str]) -> str:
    """Return who is notified in place of an owner without a channel."""
    if platform in reached:
        return "the platform owner is notified of its incidents"
    unowned = ", and those without an owner," if owner == platform else ""
    return f"its incidents{unowned} {_TO_FALLBACK}"


def _is_reached(contact: Owner | EscalationStep) -> bool:
    return bool(contact.slack or contact.pagerduty_key_file or contact.notify)
