"""`lineward gameday live|policy`: faults in real time, against a running service."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from lineage.process.clock import SECOND_MICROS
from lineage.process.logs import log_to_stderr
from service.cli.commands.options import AsJson
from service.cli.terminal import console, escape_markup, print_json, warn
from service.errors import NotRunningError, RejectedInputError
from service.runtime.settings import read_settings

if TYPE_CHECKING:
    from lab.gameday.driver.live import Played, Wanted
    from lab.gameday.fake_receivers import ReceivedMessage
    from lab.gameday.live.figures import Spread

_GIVE_UP_SECONDS = 60.0
_SETTINGS = """\
# For the policy of the service that is played against. In its environment, for the day:
#   LINEWARD_DELIVERY_SLACK_URL=http://HOST:PORT/api/   of `gameday live --listen HOST:PORT`
#   LINEWARD_DELIVERY_SLACK_TOKEN_FILE=FILE             with any text: nobody looks at it there
# All that the service has for Slack goes there then; PagerDuty gets nothing of these owners.
"""

_Against = Annotated[
    str | None,
    typer.Option(help="Address of the collector \\[http://LINEWARD_HOST:COLLECTOR_PORT]."),
]
_Service = Annotated[
    str | None,
    typer.Option(help="Address of the service's API \\[http://LINEWARD_HOST:SERVICE_PORT]."),
]
_Listen = Annotated[str, typer.Option(help="HOST:PORT on which a simulated Slack listens.")]
_TokenFile = Annotated[
    Path | None,
    typer.Option(help="Bearer token for both, with read access \\[LINEWARD_COLLECTOR_TOKEN_FILE]."),
]
_Seed = Annotated[int, typer.Option(min=0, help="Seed of the faults.")]
_Faults = Annotated[int, typer.Option(min=1, max=100, help="Number of faults.")]
_Period = Annotated[int, typer.Option(min=12, max=600, help="Seconds between writes of a source.")]
_Kinds = Annotated[
    list[str] | None, typer.Option("--kind", help="Only faults of this kind; may be repeated.")
]


def policy(*, period: _Period = 12) -> None:
    """Print the policy and the settings that the live game day needs."""
    from lab.gameday.live.estate import (  # noqa: PLC0415 - at its use, as below
        WritePace,
        policy_fragment,
    )
    from lab.gameday.policy import policy_text  # noqa: PLC0415

    sys.stdout.write(_SETTINGS + policy_text(policy_fragment(WritePace(period))))


def live(  # noqa: PLR0913 - options of a command
    *,
    against: _Against = None,
    service: _Service = None,
    listen: _Listen = "127.0.0.1:8709",
    token_file: _TokenFile = None,
    faults: _Faults = 20,
    seed: _Seed = 1,
    kind: _Kinds = None,
    period: _Period = 12,
    as_json: AsJson = False,
) -> None:
    """Inject faults into a running Lineward, and score its notifications.

    Exits with 1 if a requirement is not met.
    """
    log_to_stderr("error")
    settings = read_settings()
    from lab.gameday.driver.live import Wanted  # noqa: PLC0415 - what it needs is imported
    from lab.gameday.live.estate import WritePace  # noqa: PLC0415 - as below
    from lab.gameday.live.plan import kinds_of  # noqa: PLC0415 - a command is known before

    try:
        wanted = Wanted(seed, faults, kinds_of(kind or ()), WritePace(period))
    except ValueError as error:
        raise RejectedInputError(str(error)) from error
    against, service = against or settings.collector, service or settings.service_url
    token = token_file or settings.collector_token_file
    played = _played(wanted, (against, service), _address(listen), token)
    failings = _failings(played)
    for stray in _strays(played):
        warn(f"notifications without an injected fault: {_stray(stray, played.truth.starts_at)}")
    if as_json:
        print_json(msgspec.to_builtins(played.score))
    else:
        _show(played, failings)
    raise typer.Exit(bool(failings))


def _address(listen: str) -> tuple[str, int]:
    host, _, port = listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65_535:  # noqa: PLR2004 - ports
        raise typer.BadParameter(f"--listen: HOST:PORT, got {listen[:80]!r}")
    return host, int(port)


def _played(
    wanted: "Wanted", urls: tuple[str, str], address: tuple[str, int], token_file: Path | None
) -> "Played":
    from lab.gameday.driver.live import play  # noqa: PLC0415
    from lab.gameday.driver.service_client import ServiceClient  # noqa: PLC0415
    from lab.gameday.driver.slack import listening  # noqa: PLC0415
    from lab.gameday.fake_receivers import Receivers  # noqa: PLC0415
    from lineage import origins  # noqa: PLC0415 - as above
    from service.ingest.collector_client import CollectorClient, Target  # noqa: PLC0415
    from service.ingest.event_uploader import EventUploader  # noqa: PLC0415

    against, service = urls
    target = Target(url=against.rstrip("/"), origin=origins.HTTP, token_file=token_file)
    reach = CollectorClient(
        target,
        give_up_seconds=_GIVE_UP_SECONDS,
        on_trouble=lambda error: warn(f"{target.url}: {error}"),
    )
    if not reach.is_there():
        raise NotRunningError(f"--against {against}: nobody listens there")
    receivers = Receivers(slack_pages=True)
    with listening(receivers, *address) as url:
        warn(f"simulated Slack listens at {url}")
        return play(
            wanted, EventUploader(reach), ServiceClient(service, token_file), receivers, warn
        )


def _failings(played: "Played") -> list[str]:
    from lab.gameday.live.figures import failed_live_criteria  # noqa: PLC0415 - as above

    return failed_live_criteria(played.score)


def _show(played: "Played", failings: list[str]) -> None:
    from lab.gameday.live.figures import spread  # noqa: PLC0415 - as above

    faults, shown = played.score.faults, console()
    for each in faults:
        outcome = "detected" if each.detected else "not detected"
        after = "" if each.seconds_to_delivery is None else f", {each.seconds_to_delivery:.1f} s"
        line = f"{each.kind}: expects {each.expect}, {outcome}{after}, {each.pages} pages"
        shown.print(escape_markup(line))
    known = spread(each.seconds_to_delivery for each in faults)
    shown.print(escape_markup(f"fault -> delivered: {_words(known)}"))
    shown.print(escape_markup(f"from the injection: {_words(spread(played.from_injection()))}"))
    shown.print(escape_markup(f"FAIL -> message: {_words(spread(played.from_failure()))}"))
    over = spread(each.seconds_to_resolved for each in faults)
    shown.print(escape_markup(f"fixed -> resolve delivered: {_words(over)}"))
    shown.print(
        escape_markup(f"false pages: {played.score.false_pages}; about others: {played.others}")
    )
    for failing in failings:
        shown.print(escape_markup(f"failed: {failing}"))


def _strays(played: "Played") -> "list[ReceivedMessage]":
    from lab.gameday.scorer import false_pages, false_tickets  # noqa: PLC0415 - as above

    given = played.truth, played.messages
    return [*false_pages(*given), *false_tickets(*given)]


def _stray(sent: "ReceivedMessage", starts_at: int) -> str:
    after = (sent.at - starts_at) / SECOND_MICROS
    root = f"{sent.root.namespace} {sent.root.name}"
    return f"{sent.what} to {sent.to}: {root} ({sent.incident}, {after:.0f} s after the beginning)"


def _words(found: "Spread") -> str:
    if found.count == 0:
        return "of none"
    figures = f"p50 {found.p50:.1f} s, p95 {found.p95:.1f} s, most {found.most:.1f} s"
    return f"{figures}, of {found.count}"
