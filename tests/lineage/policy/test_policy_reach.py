"""Owners and escalation steps of a policy that cannot be notified."""

import pytest

from lineage.policy import PolicyError, not_in_force, parse_policy, unreachable_owners

_BOSS = '{name: boss, slack: "#boss"}'


@pytest.mark.parametrize(
    ("owner", "problems"),
    [
        ('{name: a, slack: "#a", escalation: [{after_minutes: 1, owner: boss}]}', []),
        ("{name: a, pagerduty_key_file: a.key}", []),
        ('{name: a, notify: ["mailto://mail.test/a@b.test"]}', []),
        (
            "{name: a}",
            [
                (
                    "owners[1]: 'a' has no slack, pagerduty_key_file or notify:"
                    " the platform owner is notified of its incidents"
                )
            ],
        ),
        (
            '{name: a, slack: "#a", escalation: [{after_minutes: 1}]}',
            [
                (
                    "owners[1].escalation[0]: notifies nobody:"
                    " add a slack, a pagerduty_key_file, a notify, or an owner who has one"
                )
            ],
        ),
    ],
)
def test_unreachable_recipients_are_listed_with_their_place(owner, problems):
    """List owners of datasets and steps of escalations without a recipient."""
    assert unreachable_owners(parse_policy(f"owners: [{_BOSS}, {owner}]"), "boss") == problems


_FALLBACK = "go to LINEWARD_DELIVERY_FALLBACK; if it is not set, no person is notified"


@pytest.mark.parametrize(
    ("owners", "problems"),
    [
        (_BOSS, []),
        (
            "{name: a}",
            [
                (
                    "owners: no owner is named 'boss' (LINEWARD_ALERTS_PLATFORM): add one. Until"
                    " then, incidents without an owner, and those of Lineward itself,"
                    f" {_FALLBACK}"
                ),
                (
                    "owners[0]: 'a' has no slack, pagerduty_key_file or notify:"
                    f" its incidents {_FALLBACK}"
                ),
            ],
        ),
        (
            "{name: boss}",
            [
                (
                    "owners[0]: 'boss' has no slack, pagerduty_key_file or notify:"
                    f" its incidents, and those without an owner, {_FALLBACK}"
                )
            ],
        ),
    ],
)
def test_platform_owner_without_a_channel_is_reported(owners, problems):
    """Say where incidents go if the policy cannot notify the platform owner."""
    assert unreachable_owners(parse_policy(f"owners: [{owners}]"), "boss") == problems


def test_channels_and_escalations_are_in_force():
    """Use every setting for people."""
    text = '{name: a, slack: "#a", escalation: [{after_minutes: 1, owner: boss}]}'

    assert not_in_force(parse_policy(f"owners: [{_BOSS}, {text}]")) == []


@pytest.mark.parametrize(
    "url",
    [
        "mailto://lineward:{smtp}@mail.test?to=shop@b.test",
        "mailto://mail.test:25/shop@b.test?from=lineward@b.test",
        "workflows://{teams}",
        "json://127.0.0.1:8080/hook",
        "teams:shop.key",
    ],
)
def test_url_without_a_secret_is_accepted(url):
    """Accept a file in the place of each secret, and services that need none."""
    assert parse_policy(f'owners: [{{name: a, notify: ["{url}"]}}]').owners[0].notify == (url,)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("mailto://lineward:hunter2@mail.test?to=shop@b.test", "the secret stands in the policy"),
        ("workflows://prod.test/643b/Abc", "the secret stands in the policy"),
        ("json://me:{file}x@mail.test", "the secret stands in the policy"),
        ("mailto:shop@b.test", "expected a URL of Apprise"),
        ("shop@b.test", "expected a URL of Apprise"),
    ],
)
def test_url_with_a_secret_is_rejected(url, problem):
    """Name the entry, of owners and of steps alike: the URL is a label of metrics."""
    step = f'{{after_minutes: 5, notify: ["{url}"]}}'
    with pytest.raises(PolicyError, match=r"owners\[0\]\.notify\[0\]: " + problem):
        parse_policy(f'owners: [{{name: a, notify: ["{url}"]}}]')
    with pytest.raises(PolicyError, match=r"escalation\[0\]\.notify\[0\]: " + problem):
        parse_policy(f'owners: [{{name: a, slack: "#a", escalation: [{step}]}}]')
