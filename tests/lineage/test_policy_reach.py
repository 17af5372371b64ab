"""Whom a policy names that nobody can tell."""

import pytest

from lineage.policy import not_in_force, parse, unreachable

_BOSS = '{name: boss, slack: "#boss"}'


@pytest.mark.parametrize(
    ("owner", "said"),
    [
        ('{name: a, slack: "#a", escalation: [{after_minutes: 1, owner: boss}]}', []),
        ("{name: a, pagerduty_key_file: a.key}", []),
        (
            "{name: a}",
            [
                (
                    "owners[1]: 'a' has neither slack nor pagerduty_key_file:"
                    " what it owns is told to the platform's owner"
                )
            ],
        ),
        (
            '{name: a, slack: "#a", escalation: [{after_minutes: 1}]}',
            [
                (
                    "owners[1].escalation[0]: tells nobody:"
                    " name a slack, a pagerduty_key_file, or an owner who has one"
                )
            ],
        ),
    ],
)
def test_who_cannot_be_told_is_named_with_its_place(owner, said):
    """Neither the owner of datasets nor a step of an escalation ends in nobody unseen."""
    assert unreachable(parse(f"owners: [{_BOSS}, {owner}]")) == said


def test_channels_and_escalations_are_in_force():
    """What a policy says of people is acted upon."""
    text = '{name: a, slack: "#a", escalation: [{after_minutes: 1, owner: boss}]}'

    assert not_in_force(parse(f"owners: [{_BOSS}, {text}]")) == []
