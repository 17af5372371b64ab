"""What a command does not show of an answer it says on standard error, and nowhere else."""

import json

import pytest

from tests.service import shop
from tests.service.commandline import lineward
from tests.service.listed import add_audit

_CUT = (
    (("audit",), "3 shown; older ones exist"),
    (("datasets",), "more with --limit: 3 of 4 shown"),
)


@pytest.mark.parametrize(("command", "text"), _CUT)
def test_that_an_answer_is_cut_is_said_beside_it(embedded, command, text):
    """For people and, while standard output stays a list of rows, beside JSON too."""
    shop.fill(embedded)
    add_audit(embedded, range(4))

    shown = lineward(*command, "--limit", "3", catalog=embedded)
    listed = lineward(*command, "--limit", "3", "--json", catalog=embedded)

    assert (shown.returncode, shown.stderr) == (0, f"lineward: {text}\n")
    assert (listed.returncode, listed.stderr) == (0, f"lineward: {text}\n")
    assert len(json.loads(listed.stdout)) == 3


@pytest.mark.parametrize("command", [command for command, _ in _CUT])
def test_an_answer_that_is_whole_says_nothing(embedded, command):
    """Exactly as many rows as were asked for are all of them."""
    shop.fill(embedded)
    add_audit(embedded, range(4))

    done = lineward(*command, "--limit", "4", "--json", catalog=embedded)

    assert (done.returncode, done.stderr, len(json.loads(done.stdout))) == (0, "", 4)


@pytest.mark.parametrize("limit", ["0", "10000001", str(2**63)])
def test_more_than_any_catalog_has_is_no_limit(embedded, limit):
    """Exit code 2, with what may be asked for: no statement of ours holds every number."""
    shop.fill(embedded)

    done = lineward("datasets", "--limit", limit, catalog=embedded, COLUMNS="120")

    assert (done.returncode, "1<=x<=10000000" in done.stderr) == (2, True)
