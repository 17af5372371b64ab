"""Output in a terminal: complete on a narrow screen, and a sentence for an empty table."""

import subprocess
import sys
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from lineage.catalog.reader import open_reader
from service.cli import terminal
from service.cli.commands import diff, incidents, lineage
from service.cli.terminal import escape_markup, wrapping_table
from service.queries.edge_runs import EdgeRun
from service.queries.incidents import list_incidents
from service.queries.lineage_at import PastLineage, PastNode
from service.queries.timestamps import short_duration
from tests.service import shop
from tests.service.commandline import environ, lineward
from tests.service.explorer import estate

_NAME = "/var/lake/warehouse/core/orders_by_customer_and_day"
NOWHERE = "postgresql+psycopg://someone:secret@127.0.0.1:1/lineage"


def _drawn(what, width: int) -> list[str]:
    screen = Console(file=StringIO(), width=width, highlight=False)
    screen.print(what)
    return screen.file.getvalue().splitlines()


def test_a_table_cuts_nothing_on_a_narrow_screen():
    """Fold a name, and print an id, which the next command needs, on one line."""
    table = wrapping_table("incident", "dataset", "tier")
    table.add_row(*map(escape_markup, ("3f2c9a7d10b45e86", _NAME, "important")))

    lines = _drawn(table, 48)

    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
    assert "".join(row[1] for row in cells) == _NAME
    assert cells[0][0] == "3f2c9a7d10b45e86"
    assert cells[0][2] == "important"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        (("datasets", "--owner", "nobody at all"), "no datasets match\n"),
        (("impact", shop.MART), "0 downstream datasets\n"),
        (("suppressions",), "no suppression windows\n"),
        (("set-aside",), "no events are set aside\n"),
        (("audit", "--who", "nobody at all"), "no operator actions match\n"),
        (("history", shop.REF), "writes: none stored\n"),
    ],
)
def test_an_empty_table_is_a_sentence(embedded, command, answer):
    """Print a sentence as `runs`, `incidents` and `lint` do."""
    shop.fill(embedded)

    shown = lineward(*command, catalog=embedded).stdout

    assert answer in shown
    assert "┏" not in shown


def test_incidents_are_listed_with_whole_ids(embedded):
    """Print the whole id at 80 columns, for `lineward ack`."""
    estate.fill(embedded)

    shown = lineward("incidents", catalog=embedded, COLUMNS="80").stdout
    drawn = "\n".join(_drawn(incidents.incident_table(_page(embedded)), 80))

    assert estate.INCIDENT in shown
    assert estate.INCIDENT in drawn


def _page(engine):
    with open_reader(engine.url.render_as_string(hide_password=False)) as reader:
        return list_incidents(reader)


def test_the_settings_of_a_past_run_are_on_their_own_line():
    """Begin the settings on a new line, without an escaped line break."""
    nothing = dict.fromkeys(EdgeRun.__struct_fields__)
    run = EdgeRun(
        **nothing
        | {"root_run_id": "r1", "status": "COMPLETE", "parameters": {}}
        | {"written_at": "2026-11-20T01:00:00Z", "spark_conf": {"spark.app.name": "core"}}
    )
    node = PastNode("s3://shop", "core", ["etl"], run, repeated=False, children=[])
    fields = {"depth": 5, "partial": False, "partial_reason": None}
    answer = PastLineage("s3://shop", "mart", "2026-11-21T00:00:00Z", [node], [], **fields)

    lines = _drawn(lineage.past_drawing(answer), 200)

    assert any(line.endswith("conf spark.app.name=core") for line in lines)
    assert "\\n" not in "".join(lines)


@pytest.mark.parametrize(
    ("message", "answer"),
    [
        (None, "-"),
        ("out of memory", "out of memory"),
        (
            "Traceback (most recent call last):\n  File 'x'\nTypeError: no float\n SQLSTATE: 38000",
            "Traceback (most recent call last): TypeError: no float",
        ),
    ],
)
def test_the_informative_line_of_an_error_is_shown(message, answer):
    """Take Python's from the end of its traceback."""
    assert diff.error_text(message) == answer


@pytest.mark.parametrize("command", ["slis", "status"])
def test_a_catalog_out_of_reach_is_one_sentence(command, tmp_path):
    """Print it without a traceback and without the password."""
    done = lineward(command, "--data-dir", str(tmp_path), LINEWARD_CATALOG_URL=NOWHERE)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("lineward: LINEWARD_CATALOG_URL: the catalog cannot be reached: ")
    assert len(done.stderr.splitlines()) == 1
    assert "secret" not in done.stderr


def test_a_failed_write_is_one_sentence(embedded):
    """Fail for a full disk behind standard output."""
    shop.fill(embedded, evaluated_at=datetime.now(UTC))
    url = embedded.url.render_as_string(hide_password=False)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "service.cli.main", "slis", "--json"],
            env=environ(LINEWARD_CATALOG_URL=url),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (
        1,
        "lineward: standard output: No space left on device\n",
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(None, "-"), (0.0, "0 s"), (1.4e-05, "< 1 ms"), (0.0669, "0.0669 s"), (7500.0, "2 h 5 min")],
)
def test_a_duration_is_written_for_people(seconds, words):
    """Use no exponents: some clients send START and COMPLETE at once."""
    assert short_duration(seconds) == words


def test_an_owner_is_shown_in_one_way():
    """Use the explorer's words for a missing owner in each table."""
    commands = Path(terminal.__file__).parent / "commands"
    sources = "".join(path.read_text() for path in commands.glob("*.py"))

    assert (terminal.owner_text(None), terminal.owner_text("shop")) == ("no owner", "shop")
    assert "owner or " not in sources
