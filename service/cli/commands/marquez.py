"""`lineward marquez …`: forwarding to Marquez, loading from Marquez, comparing both."""

import asyncio
import runpy
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Group, RenderableType

from lineage.errors import InvalidRequestError
from lineage.process.clock import TELLABLE, is_tellable, system_clock, to_micros
from service.cli.commands.options import AsJson, DataDir
from service.cli.terminal import (
    console,
    escape_control,
    escape_markup,
    local_time,
    print_json,
    wrapping_table,
)
from service.ingest.marquez.settings import MarquezSettings, read_marquez
from service.queries.catalog_session import open_session
from service.queries.marquez_status import (
    ComparisonStatus,
    ForwardingStatus,
    MarquezStatus,
    marquez_status,
)
from service.queries.timestamps import short_duration
from service.runtime.settings import read_settings

app = typer.Typer(add_completion=False)
_REJECTED = 6
_NEVER = "never, or its role does not run"


@app.callback()
def marquez() -> None:
    """Forward events to Marquez, pull events from it, and compare both."""


@app.command()
def run() -> None:
    """Run only the marquez role; `lineward up` starts it if LINEWARD_MARQUEZ_URL is set."""
    runpy.run_module("service.ingest.marquez", run_name="__main__")


@app.command()
def status(data_dir: DataDir = None, *, as_json: AsJson = False) -> None:
    """Show forwarded, set-aside and pulled events, and runs that one side misses."""
    settings = read_settings(data_dir)
    with open_session(settings) as asked:
        answer = marquez_status(asked.reader, settings, asked.now)
    if as_json:
        print_json(answer)
    else:
        console().print(marquez_text(answer))


@app.command()
def backfill(
    start: Annotated[
        str, typer.Option("--from", help="Start, ISO 8601 (UTC without time zone), inclusive.")
    ],
    end: Annotated[str | None, typer.Option("--to", help="End, exclusive \\[now].")] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Load Marquez's events of a time window as history; no SLI counts them."""
    from lineage.process.logs import log_to_stderr  # noqa: PLC0415 - structlog only where it is asked
    from service.cli.commands.backfill import show_report  # noqa: PLC0415 - httpx only where it is asked
    from service.ingest.marquez.pull import pull_window  # noqa: PLC0415 - as above

    log_to_stderr("warning")
    marquez_settings = _required(read_marquez())
    after, before = _instant("--from", start), _instant("--to", end)
    if after >= before:
        message = f"--from {start} is not before --to {end or 'now'}"
        raise InvalidRequestError(message)
    report = asyncio.run(pull_window(read_settings(), marquez_settings, after, before))
    show_report(report, as_json=as_json)
    if report.rejected:
        raise typer.Exit(_REJECTED)


@app.command()
def resend(
    numbers: Annotated[
        list[int] | None, typer.Argument(help="Numbers from `marquez status` \\[all].")
    ] = None,
    *,
    data_dir: DataDir = None,
    bodies: Annotated[
        bool, typer.Option("--bodies", help="Print the bodies, send nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Send set-aside events again; exit code 6 if any is still rejected."""
    from service.ingest.marquez.resend import (  # noqa: PLC0415 - httpx only where it is asked
        load_set_aside,
        print_bodies,
        resend_events,
    )

    with open_session(read_settings(data_dir)) as asked:
        events = load_set_aside(asked.reader, numbers or [])
    if bodies:
        print_bodies(events)
        return
    done = asyncio.run(resend_events(_required(read_marquez()), events))
    if as_json:
        print_json(done)
    else:
        for one in done:
            line = f"#{one.spool_seq} of run {one.run}: {one.outcome} {one.detail}"
            console().print(escape_markup(line.rstrip()))
    if any(one.outcome != "sent" for one in done):
        raise typer.Exit(_REJECTED)


def _required(marquez_settings: MarquezSettings) -> MarquezSettings:
    if marquez_settings.url is None:
        message = (
            "LINEWARD_MARQUEZ_URL: not set; expected the URL of Marquez, as http://marquez:5000"
        )
        raise InvalidRequestError(message)
    return marquez_settings


def _instant(option: str, text: str | None) -> int:
    if text is None:
        return to_micros(system_clock())
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        message = f"{option}: expected a date or an instant as 2026-11-21T09:00Z, got {text[:80]!r}"
        raise InvalidRequestError(message) from error
    instant = found if found.tzinfo else found.replace(tzinfo=UTC)
    if not is_tellable(instant):
        raise InvalidRequestError(f"{option}: {TELLABLE}, got {text[:80]!r}")
    return to_micros(instant)


def marquez_text(answer: MarquezStatus) -> RenderableType:
    """Return the status as text."""
    lines = [
        f"Marquez at {escape_control(answer.url or 'no URL: LINEWARD_MARQUEZ_URL is not set')}"
    ]
    lines += _forwarding(answer.forwarding) if answer.forwarding else [f"forwarded: {_NEVER}"]
    for pull in answer.pulling:
        lines.append(f"pulled from {pull.url}: through {local_time(pull.through)}")
    lines.append(f"pulled: {answer.pulled:,} events accepted, {answer.pull_rejected:,} rejected")
    lines.append(_probe(answer))
    parts: list[RenderableType] = [escape_markup(line) for line in lines]
    parts += _compared(answer.comparison) if answer.comparison else [f"compared: {_NEVER}"]
    if answer.compare_rejected:
        parts.append(f"not compared: {answer.compare_rejected:,} runs that Marquez answered 4xx")
    return Group(*parts)


def _forwarding(found: ForwardingStatus) -> list[str]:
    waiting = "?" if found.waiting_events is None else f"{found.waiting_events:,}"
    aside = ", ".join(f"{count:,} {reason}" for reason, count in found.set_aside.items())
    lines = [f"forwarded: {found.forwarded:,} events, {waiting} wait, set aside: {aside or 'none'}"]
    if found.unforwarded:
        lines.append(f"LOST to Marquez: {found.unforwarded:,} events left a full spool unsent")
    lines += [
        f"  set aside #{row.spool_seq} of run {row.run}: {row.reason}, {row.detail}"
        for row in found.last_set_aside
    ]
    return lines


def _probe(answer: MarquezStatus) -> str:
    probe = answer.probe
    if probe is None:
        return f"probed: {_NEVER}"
    how = "answered" if probe.is_answered else "NOT answered"
    took = "" if probe.seconds is None else f", lineage in {probe.seconds:.3f} s"
    return f"probed: {local_time(probe.at)}, {how}{took} ({probe.detail})"


def _compared(found: ComparisonStatus) -> list[RenderableType]:
    age = short_duration(found.age_seconds or 0.0)
    line = (
        f"compared {age} ago: {found.missing_there:,} of {found.sampled_ours:,} runs of ours are"
        f" missing there, {found.missing_here:,} of {found.sampled_theirs:,} of theirs here"
    )
    if not found.examples:
        return [escape_markup(line)]
    table = wrapping_table("missing", "run", "job")
    for run in found.examples:
        table.add_row(
            run.side,
            escape_markup(run.run_id),
            escape_markup(f"{run.job_namespace}/{run.job_name}"),
        )
    return [escape_markup(line), table]
