"""Commands that a person on call runs first, each on its own."""

import getpass
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from alerts.incidents.incident_text import event_text
from runbooks.library import page_markdown, page_names
from service.cli.commands.audit import access_table
from service.queries.audit import AccessPage, AccessRow
from service.queries.timestamps import next_morning
from tests.service import shop
from tests.service.commandline import answer, lineward
from tests.service.explorer import estate


def test_a_runbook_is_printed_without_a_service(tmp_path: Path):
    """Print the page as it is written: the service that serves it may be down."""
    folder = tmp_path / "none"
    done = lineward("runbook", "LinewardScrapeDown", LINEWARD_DATA_DIR=str(folder))

    assert (done.returncode, done.stdout) == (0, page_markdown("LinewardScrapeDown"))
    assert not folder.exists()


def test_each_runbook_is_listed():
    """List the names; an unknown name is exit code 3, and the message says how to list them."""
    listed = {line.strip() for line in lineward("runbook").stdout.splitlines() if line[0] == " "}
    unknown = lineward("runbook", "nothing")

    assert listed == page_names()
    assert (unknown.returncode, "`lineward runbook`" in unknown.stderr) == (3, True)


def test_an_incident_is_shown_with_its_diagnosis(embedded):
    """Print the runs that were compared and what differs, as the explorer page does.

    Mutant: without the column of the diagnosis, no difference is printed.
    """
    estate.fill(embedded)

    shown = lineward("incidents", estate.INCIDENT, catalog=embedded).stdout
    detail = answer("incidents", estate.INCIDENT, catalog=embedded)
    found = detail["diagnosis"]
    assert sum(line.startswith("times: ") for line in shown.splitlines()) == 1
    assert sum(line.startswith("evidence: ") for line in shown.splitlines()) == bool(
        detail["evidence"]
    )

    assert "last successful run and first failed run" in shown
    assert found["failed_run_id"] in shown
    assert [each in shown for each in ("code_version", "aa17c02", "4f1c0de")] == [True] * 3
    assert found["differences"][0] == {
        "what": "code_version",
        "good": "aa17c02",
        "failed": "4f1c0de",
    }


def test_a_ticket_that_became_a_page_is_not_called_escalated():
    """Keep one sense of the word: another person is notified."""
    assert [event_text(each) for each in ("escalated", "root_recovered", "opened")] == [
        *("became a page", "root recovered", "opened"),
    ]


def _drawn(answer):
    console = Console(width=200, file=StringIO())
    console.print(answer)
    return console.file.getvalue().splitlines()


def test_an_access_is_listed_with_the_id_that_logs_name():
    """Print the id of each row of `access_audit`."""
    row = AccessRow(
        *(4711, "2026-11-21T12:00:00Z", "bi", "f", "lineage", "", [], "allow", "", 200, "v", "r")
    )

    shown = _drawn(
        access_table(AccessPage([row], partial=False, partial_reason=None, next_cursor=None))
    )

    assert [line.strip("┃│ ").split()[0] for line in shown if line[0] in "┃│"] == ["id", "4711"]


@pytest.mark.parametrize(("named", "who"), [("Ann Smith", "Ann Smith ({})"), ("", "{}")])
def test_a_person_in_a_shared_shell_is_audited_by_name(embedded, named: str, who: str):
    """Record `NAME (USER)`: in a container all people are one user of the machine."""
    shop.fill(embedded)
    wanted = ("retire", shop.REF, "--note", "moved")

    assert lineward(*wanted, catalog=embedded, LINEWARD_OPERATOR=named).returncode == 0

    with embedded.connect() as connection:
        recorded = connection.exec_driver_sql("SELECT who FROM audit").scalar_one()
    assert recorded == who.format(getpass.getuser())


@pytest.mark.parametrize(
    ("now", "end"),
    [
        (datetime(2026, 11, 21, 2, tzinfo=UTC), datetime(2026, 11, 21, 7, tzinfo=UTC)),
        (datetime(2026, 11, 21, 7, tzinfo=UTC), datetime(2026, 11, 22, 7, tzinfo=UTC)),
        (datetime(2026, 11, 21, 23, 30, tzinfo=UTC), datetime(2026, 11, 22, 7, tzinfo=UTC)),
        (datetime(2026, 3, 29, 0, 30, tzinfo=UTC), datetime(2026, 3, 29, 6, tzinfo=UTC)),
    ],
)
def test_a_suppression_until_the_morning_ends_at_the_next_8_o_clock(now, end):
    """End on the same day at 3:00, in winter and when the clocks change.

    Mutant: always the day after hides an incident for 29 hours.
    """
    assert next_morning(now, "Europe/Berlin") == end


def test_an_empty_data_folder_is_named_by_its_absolute_path():
    """Ask whether LINEWARD_DATA_DIR is right: a relative folder looks the same everywhere."""
    done = lineward("status", LINEWARD_DATA_DIR="lineward-none")

    assert done.returncode == 4
    assert f"no data in {Path.cwd() / 'lineward-none'}: is LINEWARD_DATA_DIR right?" in done.stderr
