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
from service.errors import RefusedInputError
from service.listener import (
    FILE_SETTING,
    PACKAGES_REPLACED,
    SCALA_OF_SPARK,
    Place,
    as_arguments,
    as_properties,
    lossless,
    package,
)
from service.settings import read
from service.terminal import print_json, warn

app = typer.Typer(add_completion=False)
app.command()(rules)
app.command()(alertmanager)
app.command()(dashboards)


class _Spark(StrEnum):
    THREE = "3.5"
    FOUR = "4"


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
    spark: Annotated[_Spark | None, typer.Option(help="Version of Spark \\[4].")] = None,
    scala: Annotated[
        _Scala | None,
        typer.Option(help="That Spark is built with \\[2.12 for Spark 3.5, 2.13 for Spark 4]."),
    ] = None,
    arguments: Annotated[
        bool, typer.Option("--arguments", help="Print words for spark-submit.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print the Spark settings under which no lineage event and no evidence is lost."""
    if spark is _Spark.FOUR and scala is _Scala.OLD:
        raise RefusedInputError("--scala: Spark 4 is built with 2.13 only; or name --spark 3.5")
    settings = read()
    place = Place(
        url=url or settings.collector_url,
        folder=folder,
        name=name or f"events-{uuid4().hex[:12]}",
        namespace=namespace,
        event_logs=event_log_dir or str(folder.absolute() / "spark-events"),
        scala=scala.value if scala else SCALA_OF_SPARK[spark or _Spark.FOUR],
    )
    lines = lossless(place)
    if as_json:
        print_json({one.name: one.value for one in lines})
    elif arguments:
        # No line of the output is a comment: a shell takes all of it.
        warn(f"spark.jars.packages: {PACKAGES_REPLACED}; name {package(place.scala)} there too")
        sys.stdout.write(as_arguments(lines))
    else:
        # Of these it is to be expected that they end in a file that all applications read.
        warn(f"for one application at a time: give another one its own {FILE_SETTING}")
        sys.stdout.write(as_properties(lines))
