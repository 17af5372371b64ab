"""`lineward render spark-conf|rules|alertmanager|dashboards`: for what stands beside Lineward."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from service.commands.options import AsJson
from service.commands.render_alerts import alertmanager, rules
from service.commands.render_dashboards import dashboards
from service.listener import FILE_SETTING, Place, as_arguments, as_properties, lossless
from service.settings import read
from service.terminal import print_json, warn

app = typer.Typer(add_completion=False)
app.command()(rules)
app.command()(alertmanager)
app.command()(dashboards)


class _Scala(StrEnum):
    OLD = "2.12"
    NEW = "2.13"


@app.callback()
def render() -> None:
    """Print configuration for what stands beside Lineward."""


@app.command()
def spark_conf(  # noqa: PLR0913 - each is an option of the command
    *,
    url: Annotated[
        str | None, typer.Option(help="The collector \\[http://LINEWARD_HOST:COLLECTOR_PORT].")
    ] = None,
    folder: Annotated[
        Path, typer.Option(help="Folder on the driver's disk that `lineward ship` follows.")
    ] = Path("/var/spool/openlineage"),
    name: Annotated[
        str | None,
        typer.Option(help="The events' file, of one application at a time \\[another each time]."),
    ] = None,
    namespace: Annotated[str, typer.Option(help="Namespace of the jobs.")] = "default",
    event_log_dir: Annotated[
        str | None, typer.Option(help="Spark's event logs; it must exist \\[FOLDER/spark-events].")
    ] = None,
    scala: Annotated[_Scala, typer.Option(help="That this Spark is built with.")] = _Scala.NEW,
    arguments: Annotated[
        bool, typer.Option("--arguments", help="Print words for spark-submit.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the Spark settings under which no lineage event and no evidence is lost."""
    settings = read()
    place = Place(
        url=url or settings.collector_url,
        folder=folder,
        name=name or f"events-{uuid4().hex[:12]}",
        namespace=namespace,
        event_logs=event_log_dir or str(folder.absolute() / "spark-events"),
        scala=scala.value,
    )
    lines = lossless(place)
    if as_json:
        print_json({one.name: one.value for one in lines})
    elif arguments:
        sys.stdout.write(as_arguments(lines))
    else:
        # Of these it is to be expected that they end in a file that all applications read.
        warn(f"for one application at a time: give another one its own {FILE_SETTING}")
        sys.stdout.write(as_properties(lines))
