"""Owners and escalation steps of a policy that cannot be notified."""

import pytest

from lineage.policy import not_in_force, parse, unreachable

_BOSS = '{name: boss, slack: "#boss"}'


@pytest.mark.parametrize(
    ("owner", "problems"),
    [
        ('{name: a, slack: "#a", escalation: [{after_minutes: 1, owner: boss}]}', []),
        ("{name: a, pagerduty_key_file: a.key}", []),
        (
            "{name: a}",
            [
                (
                    "owners[1]: 'a' has neither slack nor pagerduty_key_file:"
                    " what it owns is notified to the platform's owner"
                )
            ],
        ),
        (
            '{name: a, slack: "#a", escalation: [{after_minutes: 1}]}',
            [
                (
                    "owners[1].escalation[0]: notifies nobody:"
                    " add a slack, a pagerduty_key_file, or an owner who has one"
                )
            ],
        ),
    ],
)
def test_unreachable_recipients_are_listed_with_their_place(owner, problems):
    """Neither the owner of datasets nor a step of an escalation ends in nobody unseen."""
    assert unreachable(parse(f"owners: [{_BOSS}, {owner}]")) == problems


def test_channels_and_escalations_are_in_force():
    """Act upon all that a policy says of people."""
    text = '{name: a, slack: "#a", escalation: [{after_minutes: 1, owner: boss}]}'

    assert not_in_force(parse(f"owners: [{_BOSS}, {text}]")) == []
