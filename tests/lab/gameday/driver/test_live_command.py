"""Commands of the live game day: their arguments, and errors that name them."""

import pytest

from lineage.policy import parse_policy
from tests.service.commandline import lineward


def test_the_printed_policy_is_taken_as_it_stands():
    """Print the settings beside it as comments."""
    printed = lineward("gameday", "policy").stdout

    assert "LINEWARD_DELIVERY_SLACK_URL=http://HOST:PORT/api/" in printed
    assert {owner.slack for owner in parse_policy(printed).owners} == {
        "#gameday-orders",
        "#gameday-payments",
        "#gameday-search",
    }


def test_a_slower_pace_has_a_longer_limit():
    """Add three slots of a minute, and the delay of a listener."""
    printed = lineward("gameday", "policy", "--period", "60").stdout

    assert parse_policy(printed).datasets[0].limit == "189s"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--datasets", "80", "live"), 2, "--datasets"),
        (("--seed", "1", "policy"), 2, "--seed"),
        (("live", "--days", "3"), 2, "--days"),
        (("live", "--listen", "nowhere"), 2, "--listen"),
        (("live", "--period", "5"), 2, "--period"),
        (("live", "--listen", "127.0.0.1:99999"), 2, "--listen"),
        (("live", "--kind", "holiday"), 6, "--kind holiday: not on the real clock: it takes a day"),
        (("live", "--against", "http://127.0.0.1:1"), 5, "--against http://127.0.0.1:1"),
    ],
)
def test_an_invalid_argument_is_rejected_by_name(arguments, code, message):
    """Stop before anything is posted."""
    done = lineward("gameday", *arguments)

    assert (done.returncode, message in done.stderr) == (code, True), done.stderr
