"""`lineward render spark-conf|rules|alertmanager|dashboards`: configuration of other tools."""

import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from lineage.errors import InvalidRequestError
from service.cli.commands.options import COLLECTOR_ADDRESS, AsJson, replace_url
from service.cli.commands.render_alerts import alertmanager, rules
from service.cli.commands.render_dashboards import dashboards
from service.cli.terminal import print_json, warn
from service.ingest.spark.kubernetes_conf import (
    COLLECTOR_URL,
    PLACEHOLDER,
    Cluster,
    as_manifest,
    cluster_settings,
    openlineage_yml,
    with_jar,
)
from service.ingest.spark.kubernetes_conf import jar_url as default_jar_url
from service.ingest.spark.spark_conf import (
    FILE_SETTING,
    PACKAGES_REPLACED,
    SCALA_OF_SPARK,
    Destinations,
    as_arguments,
    as_properties,
    listener_package,
    lossless_settings,
)
from service.runtime.settings import read_settings

_FOLDER = Path("/var/spool/openlineage")
app = typer.Typer(add_completion=False)
for _command in (rules, alertmanager, dashboards):
    app.command(context_settings=replace_url("lineward-url"))(_command)


class _Spark(StrEnum):
    THREE = "3.5"
    FOUR = "4"


class _Operator(StrEnum):
    KUBEFLOW = "kubeflow"
    APACHE = "apache"


class _Scala(StrEnum):
    OLD = "2.12"
    NEW = "2.13"


@app.callback()
def render() -> None:
    """Print configuration for Spark, Prometheus, Alertmanager and Grafana."""


@app.command(context_settings=replace_url("collector-url"))
def spark_conf(  # noqa: PLR0913 - each is an option of the command
    *,
    collector_url: Annotated[
        str | None,
        typer.Option(help=f"{COLLECTOR_ADDRESS[:-2]}; with --kubernetes the chart's Service]."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(help=f"Folder on the driver's disk that `lineward ship` reads \\[{_FOLDER}]."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="Event file of one application at a time \\[a new one each time]."),
    ] = None,
    namespace: Annotated[str, typer.Option(help="Namespace of the jobs.")] = "default",
    event_log_dir: Annotated[
        str | None,
        typer.Option(
            help="Folder for Spark event logs; must exist"
            " \\[FOLDER/spark-events; with --kubernetes none]."
        ),
    ] = None,
    spark: Annotated[_Spark | None, typer.Option(help="Version of Spark \\[4].")] = None,
    scala: Annotated[
        _Scala | None,
        typer.Option(help="Scala version of Spark \\[2.12 for Spark 3.5, 2.13 for Spark 4]."),
    ] = None,
    arguments: Annotated[
        bool, typer.Option("--arguments", help="Print arguments for spark-submit.")
    ] = False,
    kubernetes: Annotated[
        bool,
        typer.Option("--kubernetes", help="Print a fragment of a SparkApplication."),
    ] = False,
    operator: Annotated[
        _Operator | None,
        typer.Option(help="Operator that runs the SparkApplication \\[kubeflow]."),
    ] = None,
    jar_url: Annotated[
        str | None,
        typer.Option(
            help="Address of the listener jar (with --kubernetes) \\[the chart's Service]."
        ),
    ] = None,
    config_secret: Annotated[
        str | None,
        typer.Option(
            help="Secret with openlineage.yml, which holds the token (with --kubernetes)."
        ),
    ] = None,
    events_claim: Annotated[
        str | None,
        typer.Option(help="PersistentVolumeClaim for the event file (with --kubernetes)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print Spark settings that also write each event to a file.

    Run `lineward ship FOLDER` beside the jobs, and no event is lost.

    With --kubernetes, only --events-claim lets jobs write to a file.
    """
    _require_used(
        {"operator": operator, "jar-url": jar_url, "config-secret": config_secret}
        | {"events-claim": events_claim},
        is_used=kubernetes,
        condition="only with --kubernetes",
    )
    has_file = not kubernetes or events_claim is not None
    _require_used(
        {"folder": folder, "name": name},
        is_used=has_file,
        condition="with --kubernetes only with --events-claim",
    )
    if spark is _Spark.FOUR and scala is _Scala.OLD:
        raise InvalidRequestError("--scala: Spark 4 supports 2.13 only; for 2.12 use --spark 3.5")
    folder = folder or _FOLDER
    place = Destinations(
        url=collector_url or _configured_collector(kubernetes=kubernetes),
        folder=folder,
        name=name or f"events-{uuid4().hex[:12]}",
        namespace=namespace,
        event_logs=event_log_dir or str(folder.absolute() / "spark-events"),
        scala=scala.value if scala else SCALA_OF_SPARK[spark or _Spark.FOUR],
    )
    if kubernetes:
        cluster = Cluster(
            jar_url=jar_url or default_jar_url(place.scala),
            event_logs=event_log_dir,
            config_secret=config_secret,
            events_claim=events_claim,
        )
        form = operator or _Operator.KUBEFLOW
        _print_cluster(place, cluster, form, as_json=as_json, arguments=arguments)
    else:
        _print_machine(place, as_json=as_json, arguments=arguments)


def _require_used(options: Mapping[str, object], *, is_used: bool, condition: str) -> None:
    """Reject an option that would change nothing in the output."""
    for option, value in options.items():
        if value is not None and not is_used:
            raise InvalidRequestError(f"--{option}: {condition}")


def _configured_collector(*, kubernetes: bool) -> str:
    settings = read_settings()
    if kubernetes:
        return settings.collector_url or COLLECTOR_URL
    if settings.is_collector_address_known:
        return settings.collector
    raise InvalidRequestError(
        f"LINEWARD_HOST={settings.host} is not an address that jobs can send to: set"
        " --collector-url or LINEWARD_COLLECTOR_URL to the address by which jobs reach the"
        " collector, for example http://HOST:8700"
    )


def _print_cluster(
    place: Destinations, cluster: Cluster, operator: _Operator, *, as_json: bool, arguments: bool
) -> None:
    settings = cluster_settings(place, cluster)
    _explain(place, cluster)
    if as_json:
        print_json({one.name: one.value for one in with_jar(settings, cluster)})
    elif arguments:
        sys.stdout.write(as_arguments(with_jar(settings, cluster)))
    else:
        sys.stdout.write(as_manifest(settings, cluster, operator.value))


def _explain(place: Destinations, cluster: Cluster) -> None:
    """Print on standard error what these settings need beside them: a YAML file with comments."""
    if cluster.events_claim:
        sys.stderr.write(
            f"# Run `lineward ship {place.folder}` in a pod that mounts the claim"
            f" {cluster.events_claim}: see docs/kubernetes/spark-jobs.md.\n"
        )
    if cluster.config_secret:
        sys.stderr.write(
            f"# openlineage.yml for the Secret {cluster.config_secret}: replace {PLACEHOLDER} by"
            " the token of senders.\n"
        )
        sys.stderr.write(openlineage_yml(place, cluster))


def _print_machine(place: Destinations, *, as_json: bool, arguments: bool) -> None:
    lines = lossless_settings(place)
    warn(
        f"run `lineward ship {place.folder.absolute()} --url {place.url}` on the driver's machine:"
        " it sends the events that HTTP loses (docs/sources.md)"
    )
    if as_json:
        print_json({one.name: one.value for one in lines})
    elif arguments:
        # No line of the output is a comment: a shell takes all of it.
        package = listener_package(place.scala)
        warn(f"spark.jars.packages: {PACKAGES_REPLACED}; name {package} there too")
        sys.stdout.write(as_arguments(lines))
    else:
        # These lines are for a file that all applications read.
        warn(f"valid for one application at a time: give others their own {FILE_SETTING}")
        sys.stdout.write(as_properties(lines))
