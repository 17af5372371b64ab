"""Settings of a Spark job under which all of its events and evidence reach Lineward.

Over HTTP alone, events are lost while no collector answers, because the listener does not repeat
them. So each event goes into a file too, which `lineward ship` follows. The other settings keep
evidence whole.
"""

import shlex
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lineage.errors import InvalidRequestError
from service.ingest.collector_url import require_collector_url

LISTENER_VERSION = "1.53.0"
_PACKAGES = "the listener; {}: name the listener there too"
PACKAGES_REPLACED = "`--packages` on the command line replaces this line"
# Each version of Spark, with the version of Scala that its downloads are built with.
SCALA_OF_SPARK = {"3.5": "2.12", "4": "2.13"}
# Default options come before those of the job, and replace none. Java 8 knows no --add-opens.
_JAVA = "spark.driver.defaultJavaOptions"
_OPENS = "-XX:+IgnoreUnrecognizedVMOptions --add-opens=java.base/java.security=ALL-UNNAMED"
_TRANSPORT = "spark.openlineage.transport"
_FILE = f"{_TRANSPORT}.transports.file"
FILE_SETTING = f"{_FILE}.location"
_HTTP = f"{_TRANSPORT}.transports.http"
_BOTH = "send each event to a file and to the collector; neither waits for the other"
_OWN_FILE = (
    "one application at a time may write to this file: two would mix their events;"
    f" give others --conf {FILE_SETTING}=FILE"
)


class Setting(msgspec.Struct, frozen=True):
    """Line of Spark's configuration, and the reason for it."""

    name: str
    value: str
    why: str


# The listener knows no version of the job's code: what deploys the job names it.
CODE_VERSION = Setting(
    "spark.openlineage.job.tags",
    "code_version:VERSION",
    "version of the job's code, for example a commit: replace VERSION at each deployment",
)


def listener_package(scala: str = "2.13") -> str:
    """Return the listener's coordinates, as `spark.jars.packages` takes them."""
    return f"io.openlineage:openlineage-spark_{scala}:{LISTENER_VERSION}"


class Destinations(msgspec.Struct, frozen=True, kw_only=True):
    """Destinations of a job's events and evidence.

    Attributes:
        url: of the collector, without a path.
        folder: takes the events' file; `lineward ship` follows it.
        name: of that file, without `.jsonl`.
        namespace: of the jobs.
        event_logs: folder of Spark's event logs; a path or a URL.
        scala: that this Spark is built with.
    """

    url: str
    folder: Path
    name: str
    namespace: str
    event_logs: str
    scala: str = "2.13"


def lossless_settings(place: Destinations) -> list[Setting]:
    """Return the settings under which no event and no evidence is lost.

    Raises:
        InvalidRequestError: a part of the place cannot be what it says.
    """
    _require(place)
    settings = (
        ("spark.jars.packages", listener_package(place.scala), _PACKAGES.format(PACKAGES_REPLACED)),
        ("spark.extraListeners", "io.openlineage.spark.agent.OpenLineageSparkListener", ""),
        (_JAVA, _OPENS, "Java 17: else the listener logs exceptions where Iceberg is in use"),
        ("spark.openlineage.namespace", place.namespace, "namespace of the jobs"),
        *_transports(place.url.rstrip("/"), place.folder.absolute() / f"{place.name}.jsonl"),
        *_evidence(place.event_logs),
    )
    return [Setting(*one) for one in settings]


def _transports(url: str, file: Path) -> Iterator[tuple[str, str, str]]:
    yield f"{_TRANSPORT}.type", "composite", _BOTH
    yield f"{_TRANSPORT}.continueOnFailure", "true", ""
    yield f"{_TRANSPORT}.withThreadPool", "true", ""  # one after the other, a failure ends the row
    yield f"{_FILE}.type", "file", ""
    yield FILE_SETTING, str(file), _OWN_FILE
    yield f"{_HTTP}.type", "http", "give up after a second: the listener has one thread"
    yield f"{_HTTP}.url", url, ""
    yield f"{_HTTP}.timeoutInMillis", "1000", ""


def _evidence(event_logs: str) -> Iterator[tuple[str, str, str]]:
    capacity = "spark.scheduler.listenerbus.eventqueue.capacity"
    yield capacity, "100000", "Spark drops events when this queue is full; its default is 10000"
    yield "spark.eventLog.enabled", "true", "log of what Spark itself did; the folder must exist"
    yield "spark.eventLog.dir", event_logs, ""
    why = "Spark cuts the lists of what a scan reads at 100 characters by default"
    yield "spark.sql.maxMetadataStringLength", "1000000", why


def _require(place: Destinations) -> None:
    require_collector_url("--collector-url", place.url)
    if "/" in place.name or place.name.startswith(".") or not place.name:
        message = f"--name: expected a file's name without a slash, got {place.name[:80]!r}"
        raise InvalidRequestError(message)
    for text in map(str, msgspec.structs.astuple(place)):
        # Any of these would end a line of spark-defaults.conf, or change what it says.
        if not text.isprintable() or text != text.strip() or "\\" in text or not text:
            message = f"expected printable text without a backslash, got {text[:80]!r}"
            raise InvalidRequestError(message)


def as_properties(settings: list[Setting]) -> str:
    """Return the lines for `spark-defaults.conf`, and one to complete at each deployment."""
    width = max(len(one.name) for one in settings) + 1
    lines: list[str] = []
    for one in settings:
        lines += [f"# {one.why}"] if one.why else []
        lines.append(f"{one.name:{width}}{one.value}")
    lines += [f"# {CODE_VERSION.why}", f"# {CODE_VERSION.name:{width}}{CODE_VERSION.value}"]
    return "\n".join(lines) + "\n"


def as_arguments(settings: list[Setting]) -> str:
    """Return the arguments for `spark-submit`, one setting a line."""
    return (
        " \\\n".join(f"--conf {shlex.quote(f'{one.name}={one.value}')}" for one in settings) + "\n"
    )
