"""`lineward render rules|alertmanager`: alerting as code, from the objectives of the policy."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from lineage.process.http_hosts import is_loopback
from lineage.process.sockets import is_all_addresses
from service.cli.terminal import escape_control, warn
from service.errors import RejectedInputError
from service.runtime.settings import read_settings

if TYPE_CHECKING:
    from alerts.rules.rule_file import AlertOwners
    from lineage.policy.model import Policy

PolicyOption = Annotated[
    Path | None, typer.Option("--policy", help="Policy file [LINEWARD_POLICY].")
]
LinewardUrl = Annotated[
    str | None,
    typer.Option(
        help="Address by which other machines reach Lineward's API and pages"
        " \\[LINEWARD_ALERTS_PUBLIC_URL, else LINEWARD_HOST and LINEWARD_SERVICE_PORT]."
    ),
]
_Platform = Annotated[
    str | None,
    typer.Option(
        help="Owner of Lineward and of datasets without an owner"
        " \\[LINEWARD_ALERTS_PLATFORM, platform]."
    ),
]
_Engineering = Annotated[
    str | None,
    typer.Option(
        help="Owner that gets ErrorBudgetEscalation: coverage or completeness is below its"
        " objective \\[LINEWARD_ALERTS_ENGINEERING, else the owner of --platform]."
    ),
]


_ONLY_HERE = (
    "links work on this machine only: set --lineward-url or LINEWARD_ALERTS_PUBLIC_URL to the"
    " address by which others reach Lineward"
)
_RELATIVE_KEY = (
    "Alertmanager looks for {!r} in its working directory: name the file by --pagerduty-key-file"
)
_UNANSWERED = (
    "the policy asks for tokens: add one with the role alerts, and name its file by --token-file;"
    " without it Alertmanager's calls are rejected"
)


def rules(  # noqa: PLR0913 - each is an option of the command
    *,
    policy: PolicyOption = None,
    lineward_url: LinewardUrl = None,
    platform: _Platform = None,
    engineering: _Engineering = None,
    job: Annotated[
        str, typer.Option(help="Prometheus scrape job of the metrics port.")
    ] = "lineward",
    collector_job: Annotated[
        str, typer.Option(help="Prometheus scrape job of the collector.")
    ] = "lineward-collector",
    shipper_job: Annotated[
        str, typer.Option(help="Prometheus scrape job of the shippers, with the log in Kafka.")
    ] = "lineward-shipper",
) -> None:
    """Print Prometheus rules: error budgets, incidents, and Lineward's own health."""
    from alerts.rules.rule_file import describe_unrendered, rule_file  # noqa: PLC0415 - as above
    from alerts.rules.service_alerts import ScrapeJobs  # noqa: PLC0415 - YAML only where it is printed

    found, people = policy_in(policy), _people(platform, engineering)
    base = public_address(lineward_url)
    _warn_of_strangers(found, people)
    for note in describe_unrendered(found):
        warn(escape_control(note))
    jobs = ScrapeJobs(service=job, collector=collector_job, shipper=shipper_job)
    sys.stdout.write(rule_file(found, people=people, jobs=jobs, runbooks=f"{base}/runbooks"))


def alertmanager(  # noqa: PLR0913 - each is an option of the command
    *,
    watchdog_url: Annotated[
        str,
        typer.Option(help="External dead man's switch: receives the Watchdog, alerts if it stops."),
    ],
    policy: PolicyOption = None,
    lineward_url: LinewardUrl = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File on Alertmanager's machine with the policy's token for the role `alerts`."
        ),
    ] = None,
    outside_url: Annotated[
        str | None, typer.Option(help="Webhook for alerts while Lineward is down.")
    ] = None,
    pagerduty_key_file: Annotated[
        Path | None,
        typer.Option(
            help="File on Alertmanager's machine with the PagerDuty key for alerts while Lineward"
            " is down [path in the policy]."
        ),
    ] = None,
    platform: _Platform = None,
    engineering: _Engineering = None,
) -> None:
    """Print Alertmanager's configuration: routes by owner and severity, inhibition, mute times."""
    from alerts.notify.settings import read_delivery  # noqa: PLC0415 - as above
    from alerts.rules.alertmanager import (  # noqa: PLC0415 - as above
        Endpoints,
        outside_configs,
        outside_key_file,
        render_alertmanager,
    )

    found, people = policy_in(policy), _people(platform, engineering)
    places = Endpoints(
        service_url=public_address(lineward_url),
        token_file=None if token_file is None else str(token_file),
        watchdog_url=checked_url("--watchdog-url", watchdog_url),
        outside_url=None if outside_url is None else checked_url("--outside-url", outside_url),
        pagerduty_key_file=None if pagerduty_key_file is None else str(pagerduty_key_file),
        pagerduty_url=read_delivery().pagerduty_url,
    )
    _warn_of_strangers(found, people)
    posting = _posting(found)
    if posting is not None and not (posting and token_file):
        warn(_UNANSWERED)
    if not outside_configs(people.platform, found, places):
        warn(
            "nobody is notified when Lineward's service is down: set --outside-url, or a"
            f" pagerduty_key_file of the owner {escape_control(people.platform)} in the policy"
        )
    if posting and token_file:
        _comment(f"{token_file} holds the policy's token {posting}.")
    if key_file := outside_key_file(people.platform, found, places):
        _comment(
            f"{key_file} holds the PagerDuty key of the owner {people.platform}:"
            " copy it to Alertmanager's machine."
        )
        if not Path(key_file).is_absolute():
            warn(_RELATIVE_KEY.format(escape_control(key_file)))
    sys.stdout.write(render_alertmanager(found, people=people, places=places))


def _comment(text: str) -> None:
    sys.stdout.write(f"# {escape_control(text)}\n")


def _posting(policy: "Policy") -> str | None:
    """Return the name of the token that may post alerts; empty: no token may, None: not needed."""
    if policy.guard is None:
        return None
    return next((one.name for one in policy.guard.tokens if "alerts" in one.roles), "")


def policy_in(path: Path | None) -> "Policy":
    """Load the policy of this file, or of the settings."""
    from service.runtime.policies import read_policy  # noqa: PLC0415 - as above

    return read_policy(path or read_settings().policy)


def _people(platform: str | None, engineering: str | None) -> "AlertOwners":
    from alerts.notify.settings import read_routing  # noqa: PLC0415 - as above
    from alerts.rules.rule_file import AlertOwners  # noqa: PLC0415 - as above

    routing = read_routing(read_settings().service_url)
    named = platform or routing.platform
    return AlertOwners(platform=named, engineering=engineering or routing.engineering or named)


def _warn_of_strangers(policy: "Policy", people: "AlertOwners") -> None:
    known = {owner.name for owner in policy.owners}
    for name in dict.fromkeys((people.platform, people.engineering)):
        if name not in known:
            warn(f"the policy has no owner {escape_control(name)!r}, so no channels are known")


def public_address(given: str | None) -> str:
    """Return the address for other tools: given, of the settings, or the service's own.

    Raises:
        RejectedInputError: it is none that can be called.
    """
    from alerts.notify.settings import read_public_url  # noqa: PLC0415 - as above

    public = read_public_url() if given is None else given
    if public is None:
        settings = read_settings()
        if is_all_addresses(settings.host) or is_loopback(settings.host):
            warn(_ONLY_HERE)
        public = settings.service_url
    return checked_url("--lineward-url", public)


def checked_url(option: str, url: str) -> str:
    """Return the URL without a trailing slash.

    Raises:
        RejectedInputError: it is none that can be called.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or not url.isprintable():
        message = f"{option}: expected http://HOST or https://HOST, got {url[:80]!r}"
        raise RejectedInputError(message)
    return url.rstrip("/")
