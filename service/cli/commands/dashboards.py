"""`lineward dashboards push`: dashboards in Grafana, through its HTTP API."""

from pathlib import Path
from typing import Annotated

import typer

from service.cli.commands.options import AsJson, replace_url
from service.cli.commands.render_alerts import LinewardUrl, PolicyOption, checked_url
from service.cli.commands.render_dashboards import rendered_dashboards
from service.cli.terminal import plain_lines, print_json, warn
from service.errors import RejectedInputError
from service.ingest.collector_client import read_token_file

app = typer.Typer(add_completion=False)


@app.callback()
def dashboards() -> None:
    """Save Lineward's dashboards in Grafana."""


@app.command(context_settings=replace_url("grafana-url"))
def push(
    *,
    grafana_url: Annotated[str, typer.Option(help="Address of Grafana, with its sub-path.")],
    token_file: Annotated[
        Path, typer.Option(help="File with the token of a service account (Editor).")
    ],
    lineward_url: LinewardUrl = None,
    policy: PolicyOption = None,
    as_json: AsJson = False,
) -> None:
    """Create or update the dashboards and their folder; running it again changes nothing."""
    from dashboards.grafana import infinity, outputs  # noqa: PLC0415 - the SDK only here
    from service.cli import grafana_api as pushing  # noqa: PLC0415 - with it
    from service.cli.grafana_api import Grafana  # noqa: PLC0415 - likewise

    base = checked_url("--grafana-url", grafana_url)
    found = rendered_dashboards(policy, lineward_url)
    grafana = Grafana(base, _token(token_file))
    needed = {
        "prometheus": "add the Prometheus that scrapes Lineward",
        infinity.TYPE: "install the plugin, and add one with Lineward's API as its base URL",
    }
    if not pushing.require_sources(grafana, needed):
        warn("the token may not list data sources: check that Prometheus and Infinity exist")
    pushing.require_folder(grafana, outputs.FOLDER_UID, outputs.FOLDER)
    done = [pushing.push(grafana, outputs.FOLDER_UID, text) for text in found.values()]
    if as_json:
        print_json(done)
    else:
        plain_lines(f"{one.outcome:<9} {base}/d/{one.uid}" for one in done)


def _token(file: Path) -> str:
    token = read_token_file(file)
    if not token or not token.isascii() or not token.isprintable():
        message = f"--token-file: {file} holds no token: one line of printable characters"
        raise RejectedInputError(message)
    return token
