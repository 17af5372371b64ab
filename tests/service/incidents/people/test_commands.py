"""`lineward ack`, `suppress` and the rest: the same rows as the API's, by the machine's user."""

import getpass
import json

import pytest

from lineage.errors import NotNowError
from service.cli.commands import incidents
from tests.service.commandline import answer, lineward

_UNKNOWN = "0123456789abcdef"


@pytest.fixture
def by():
    """Return the name of the user who runs the tests."""
    return getpass.getuser()


def test_an_incident_is_acknowledged_by_the_machines_user(answering, by):
    """Wait for the leading service, at most five seconds."""
    with answering.evaluating():
        done = lineward("ack", answering.incidents.one.id, catalog=answering.catalog)

    assert (done.returncode, done.stdout) == (0, f"{answering.incidents.one.id}: acknowledged\n")
    assert answering.audit_rows() == [
        (by, "cli", "acknowledge", None),
        (by, "cli", "acknowledge", "done"),
    ]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("action", ["resolve", "escalate", "false_alarm", "unsuppress"])
def test_a_command_without_an_evaluation_is_queued(answering, action, capsys):
    """Store it and exit with 0, as it takes effect later."""
    incidents.request_action(
        answering.settings, answering.incidents.one.id, action, note="x", as_json=True
    )

    text = json.loads(capsys.readouterr().out)
    assert (text["action"], text["is_done"]) == (action, False)
    assert "waits for the leading service" in text["detail"]


def test_a_rejected_command_prints_its_reason(answering):
    """Raise what the API answers as 409."""
    with answering.evaluating(), pytest.raises(NotNowError, match="it is open"):
        incidents.request_action(
            answering.settings, answering.incidents.one.id, "unsuppress", as_json=False
        )


def test_windows_are_begun_listed_and_ended(answering, by):
    """Create a window by its pattern, list it as a table or JSON, and end it by its number."""
    begun = answer(
        *("suppress", "s3://shop/*", "--for", "2h", "--reason", "a move"),
        catalog=answering.catalog,
    )
    (listed,) = answer("suppressions", catalog=answering.catalog)
    shown = lineward("suppressions", catalog=answering.catalog).stdout
    ended = lineward("unsuppress", str(begun["id"]), catalog=answering.catalog)

    assert (listed["id"], listed["pattern"], listed["by"]) == (begun["id"], "s3://shop/*", by)
    assert "s3://shop/*" in shown
    assert ended.stdout == f"window {begun['id']} ended\n"
    assert answer("suppressions", catalog=answering.catalog) == []
    trail = answer("audit", catalog=answering.catalog)
    assert [(row["action"], row["answer"]) for row in trail] == [
        ("end_suppression", "done"),
        ("suppress_pattern", "done"),
    ]
    assert "a move" in lineward("audit", catalog=answering.catalog).stdout


def test_a_pattern_that_matches_nothing_is_a_warning(answering):
    """Create the window for a mistyped pattern, and print a warning."""
    done = lineward(
        *("suppress", "s3://shpo/*", "--for", "2h", "--reason", "a move"),
        catalog=answering.catalog,
    )

    assert "s3://shpo/* (0 datasets) is suppressed until" in done.stdout
    assert "no known dataset matches: write namespace and name joined, such as " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("ack", _UNKNOWN), 3, "no incident has the id"),
        (("resolve", _UNKNOWN), 2, "--note"),
        (("suppress", "x", "--reason", "y"), 2, "needs an end: give --for 2h or --until TIME"),
        (("suppress", _UNKNOWN, "--reason", "y"), 2, "needs an end: give --for 2h"),
        (("suppress", "x", "--reason", "y", "--until", "x"), 2, "--until: expected a timestamp"),
        (("suppress", _UNKNOWN, "--reason", "y", "--for", "1h"), 3, "no incident has the id"),
        (
            ("suppress", _UNKNOWN, "--reason", "y", "--for", "1h", "--name", "z"),
            2,
            "--from, --name: for patterns only",
        ),
        (("unsuppress", "77"), 3, "no window has the number 77"),
        (("unsuppress", "x"), 2, "expected a window's number or an incident's id"),
    ],
)
def test_an_invalid_command_is_explained(answering, arguments, code, words):
    """Print the reason to standard error, and exit with the documented code."""
    done = lineward(*arguments, catalog=answering.catalog)

    assert (done.returncode, words in done.stderr) == (code, True), done.stderr


def test_commands_create_no_catalog(tmp_path):
    """Exit code 4, as for everything that asks."""
    done = lineward("ack", _UNKNOWN, "--data-dir", str(tmp_path))

    assert done.returncode == 4
    assert list(tmp_path.iterdir()) == []
