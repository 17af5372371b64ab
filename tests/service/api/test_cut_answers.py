"""Note on standard error that a command's answer is cut."""

import json

import pytest

from tests.service import shop
from tests.service.api_lists import add_audit
from tests.service.commandline import lineward

_CUT = (
    (("audit",), "3 shown; older ones exist"),
    (("datasets",), "more with --limit: 3 of 4 shown"),
)


@pytest.mark.parametrize(("command", "text"), _CUT)
def test_a_cut_answer_is_noted_on_standard_error(embedded, command, text):
    """Print the note for people, and beside JSON while standard output is a list of rows."""
    shop.fill(embedded)
    add_audit(embedded, range(4))

    shown = lineward(*command, "--limit", "3", catalog=embedded)
    listed = lineward(*command, "--limit", "3", "--json", catalog=embedded)

    assert (shown.returncode, shown.stderr) == (0, f"lineward: {text}\n")
    assert (listed.returncode, listed.stderr) == (0, f"lineward: {text}\n")
    assert len(json.loads(listed.stdout)) == 3


@pytest.mark.parametrize("command", [command for command, _ in _CUT])
def test_a_complete_answer_has_no_note(embedded, command):
    """Treat exactly as many rows as requested as complete."""
    shop.fill(embedded)
    add_audit(embedded, range(4))

    done = lineward(*command, "--limit", "4", "--json", catalog=embedded)

    assert (done.returncode, done.stderr, len(json.loads(done.stdout))) == (0, "", 4)


@pytest.mark.parametrize("limit", ["0", "10000001", str(2**63)])
def test_more_than_any_catalog_has_is_no_limit(embedded, limit):
    """Exit with 2 and the accepted range, as no SQL statement takes every number."""
    shop.fill(embedded)

    done = lineward("datasets", "--limit", limit, catalog=embedded, COLUMNS="120")

    assert (done.returncode, "1<=x<=10000000" in done.stderr) == (2, True)
