"""`lineward suppress|unsuppress|suppressions`: planned windows and suppressed incidents."""

import re
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from lineage.errors import InvalidRequestError
from lineage.process.clock import from_micros, to_micros
from service.cli.commands.incidents import request_action
from service.cli.commands.operator_name import operator_name
from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import (
    console,
    escape_markup,
    local_time,
    print_json,
    show_answer,
    table_or_text,
    warn,
    wrapping_table,
)
from service.queries.catalog_session import open_session
from service.queries.suppressions import SuppressionList, list_suppressions
from service.queries.timestamps import iso, parse_end, parse_instant
from service.runtime.settings import Settings, read_settings

app = typer.Typer(add_completion=False)

_INCIDENT = re.compile(r"[0-9a-f]{16}")
_What = Annotated[
    str,
    typer.Argument(
        metavar="PATTERN|INCIDENT", help="Pattern as in the policy's `match`, or an incident id."
    ),
]
_Until = Annotated[str | None, typer.Option("--until", help="End, ISO 8601 with time zone.")]
_For = Annotated[str | None, typer.Option("--for", help="Duration: 90m, 2h, 1d 12h; at most 30d.")]
_From = Annotated[str | None, typer.Option("--from", help="Start \\[now].")]


@app.command()
def suppress(  # noqa: PLR0913, PLR0917 - each is an option
    what: _What,
    reason: Annotated[str, typer.Option(help="Reason, recorded in the audit log.")],
    until: _Until = None,
    length: _For = None,
    begin: _From = None,
    name: Annotated[str, typer.Option(help="Name of the window \\[the pattern].")] = "",
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Suppress an incident, or all incidents of matching datasets, until a given time.

    `--for` or `--until` is required.
    """
    if until is None and length is None:
        raise InvalidRequestError("a suppression needs an end: give --for 2h or --until TIME")
    settings = read_settings(data_dir)
    with open_session(settings) as asked:
        now = asked.now
    start = now if begin is None else from_micros(parse_instant(begin, "--from"))
    end = parse_end(until, length, begin=max(start, now), place="--")
    if not _INCIDENT.fullmatch(what):
        wanted = {"pattern": what, "until": end, "begin": to_micros(start), "name": name}
        _begin_window(settings, wanted | {"reason": reason}, now, as_json=as_json)
    elif begin is not None or name:
        raise InvalidRequestError(
            "--from, --name: for patterns only; an incident is suppressed from now on"
        )
    else:
        request_action(settings, what, "suppress", note=reason, until=end, as_json=as_json)


@app.command()
def unsuppress(
    what: Annotated[
        str,
        typer.Argument(metavar="NUMBER|INCIDENT", help="Number of a window, or an incident id."),
    ],
    data_dir: DataDir = None,
    *,
    as_json: AsJson = False,
) -> None:
    """End a suppression window early, or unsuppress an incident."""
    settings = read_settings(data_dir)
    if _INCIDENT.fullmatch(what):
        request_action(settings, what, "unsuppress", as_json=as_json)
        return
    if not what.isascii() or not what.isdigit() or len(what) > 15:  # noqa: PLR2004 - of 16 is an id
        message = f"expected a window's number or an incident's id, got {what[:80]!r}"
        raise InvalidRequestError(message)
    with open_session(settings) as asked:
        now = asked.now
    from alerts.operator_actions.suppression_windows import WindowEnding  # noqa: PLC0415 - SQLAlchemy only from here on
    from service.incidents.window_requests import end_window  # noqa: PLC0415 - as above

    end_window(settings, WindowEnding(int(what), operator_name(), "cli"), now)
    if as_json:
        print_json({"id": int(what), "ended_at": now.isoformat()})
    else:
        console().print(escape_markup(f"window {what} ended"))


@app.command()
def suppressions(
    data_dir: DataDir = None,
    *,
    ended: Annotated[bool, typer.Option("--ended", help="Include ended windows.")] = False,
    as_json: AsJson = False,
) -> None:
    """List suppression windows: of the policy, and requested by people."""
    settings = read_settings(data_dir)
    from service.runtime.policies import read_accepted_policy  # noqa: PLC0415 - YAML only here

    with open_session(settings) as asked:
        answer = list_suppressions(
            asked.reader, read_accepted_policy(settings), asked.now, with_ended=ended
        )
    show_answer(answer, windows_table, as_json=as_json, rows=answer.suppressions)


def windows_table(answer: SuppressionList) -> RenderableType:
    """Return the windows as a table."""
    shown = wrapping_table("id", "name", "pattern", "from", "until", "state", "by", "reason")
    for row in answer.suppressions:
        number = "policy" if row.id is None else str(row.id)
        name = row.name if row.cron is None else f"{row.name} ({row.cron})"
        cells = (number, name, row.pattern, local_time(row.begin), local_time(row.until))
        shown.add_row(*map(escape_markup, (*cells, row.state, row.by, row.reason)))
    return table_or_text(shown, "no suppression windows")


def _begin_window(
    settings: Settings, wanted: dict[str, Any], now: datetime, *, as_json: bool
) -> None:
    from alerts.operator_actions.suppression_windows import WindowRequest  # noqa: PLC0415 - SQLAlchemy only once it is needed
    from service.incidents.window_requests import begin_window  # noqa: PLC0415 - as above

    window = WindowRequest(**wanted, by=operator_name(), via="cli")
    begun = begin_window(settings, window, now)
    if as_json:
        print_json(begun)
        return
    what = f"{window.pattern} ({begun.datasets:,} datasets)"
    console().print(
        escape_markup(
            f"window {begun.id}: {what} is suppressed until {local_time(iso(window.until))}"
        )
    )
    if not begun.datasets:
        known = f", such as {begun.example}" if begun.example else ""
        warn(f"no known dataset matches: write namespace and name joined{known}")
