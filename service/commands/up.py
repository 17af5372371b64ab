"""`lineward up`: collector, pipeline and service on this machine."""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from service.commands.options import DataDir
from service.kafka.settings import client_settings
from service.kafka.settings import read as read_kafka
from service.marquez.settings import read_marquez
from service.roles import commands, environment, with_free_ports
from service.settings import Settings, read
from service.supervisor import Supervisor
from service.terminal import clean

app = typer.Typer(add_completion=False)


@app.command()
def main(
    data_dir: DataDir = None,
    policy: Annotated[
        Path | None, typer.Option(help="Policy file [LINEWARD_POLICY, else the defaults].")
    ] = None,
) -> None:
    """Run collector, pipeline and service until Ctrl-C; what dies is started again."""
    settings = read(data_dir)
    read_marquez()
    if policy is not None:
        settings = msgspec.structs.replace(settings, policy=policy)
    _require_policy(settings.policy)
    if settings.kafka_bootstrap:
        client_settings(read_kafka())
    settings = with_free_ports(settings)
    supervisor = Supervisor(commands(settings), settings.data_dir, environment(settings), _say)
    supervisor.run(on_accepting=lambda: _say(_addresses(settings)))
    _say("stopped")


def _require_policy(path: Path | None) -> None:
    if path is None:
        return
    from service.policies import policy_of  # noqa: PLC0415 - YAML only where a policy is

    policy_of(path)


def _say(text: str) -> None:
    typer.echo("\n".join(clean(line) for line in text.splitlines()))


def _marquez(settings: Settings) -> str:
    url = settings.marquez_url
    return f"  Marquez   {url}   (forwarded to, pulled from)\n" if url else ""


def _addresses(settings: Settings) -> str:
    at = f"http://{settings.host}"
    return f"""Lineward is up on {settings.data_dir.absolute()}; Ctrl-C stops it
  events    {at}:{settings.collector_port}/api/v1/lineage   (OpenLineage, as to Marquez)
  API       {at}:{settings.service_port}/schema
  metrics   {at}:{settings.metrics_port}/metrics   (figures follow once Spark has started)
{_marquez(settings)}  logs      {settings.data_dir.absolute() / "logs"}
  ask       lineward status --data-dir {settings.data_dir}"""
