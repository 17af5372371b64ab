"""Jobs of the shop, started by spark-submit with the real OpenLineage listener."""

import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec
import pyspark

from lab.demo.waiting import Patience, StepFailedError
from service.ingest.spark.spark_conf import listener_package
from service.runtime.child import Child, RoleCommand

NAMESPACE = "shop"
_STOP_SECONDS = 20.0
EVENT_LOGS = "event-logs"  # folder of the shop
_JOBS = Path(__file__).with_name("jobs")
_ROOT = Path(__file__).resolve().parents[2]
_SPARK_HOME = Path(pyspark.__file__).parent
_CONF = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    # A JVM of half a minute is not worth what the second compiler makes of it.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


class Transport(msgspec.Struct, frozen=True):
    """Target of the listener's events: Spark settings without `spark.openlineage.transport.`."""

    settings: Mapping[str, str]


def http(url: str) -> Transport:
    """Send to a collector."""
    return Transport({"type": "http", "url": url})


def file(path: Path) -> Transport:
    """Return the transport that writes a line an event into a file."""
    return Transport({"type": "file", "location": str(path)})


def listener_conf(transport: Transport, *, namespace: str = NAMESPACE) -> dict[str, str]:
    """Return the settings by which a job reports its lineage."""
    settings = {f"spark.openlineage.transport.{k}": v for k, v in transport.settings.items()}
    return {
        "spark.jars.packages": listener_package(),
        **ivy_conf(),
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.namespace": namespace,
        **settings,
    }


def logged(folder: Path) -> dict[str, str]:
    """Return the settings by which a job leaves its event log there, with whole lists of paths."""
    folder.mkdir(parents=True, exist_ok=True)
    return {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
        "spark.sql.maxMetadataStringLength": "100000",
    }


def ivy_conf() -> dict[str, str]:
    """Return the listener's place: `build` of a checkout, elsewhere where Spark keeps its own."""
    if not (_ROOT / "pyproject.toml").is_file():
        return {}
    return {"spark.jars.ivy": str(_ROOT / "build" / "ivy")}


def spark_environment() -> dict[str, str]:
    """Return the environment, with the interpreter and the Spark that this process runs on."""
    own = {
        "SPARK_HOME": str(_SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }
    return {**os.environ, **own}


def command(
    script: Path, *arguments: str, conf: Mapping[str, str], scratch: Path
) -> tuple[str, ...]:
    """Return the spark-submit of a job on two local cores; `scratch` gets Spark's own files."""
    all_conf = {**_CONF, "spark.sql.warehouse.dir": str(scratch / "warehouse"), **conf}
    options = [word for item in all_conf.items() for word in ("--conf", "=".join(item))]
    return (
        str(_SPARK_HOME / "bin" / "spark-submit"),
        *("--master", "local[2]", "--driver-memory", "512m"),
        *options,
        str(script),
        *arguments,
    )


class ShopJob:
    """Run of one job of the shop."""

    def __init__(self, name: str, shop: Path, *arguments: str, transport: Transport | None) -> None:
        conf = {**logged(shop / EVENT_LOGS), **(listener_conf(transport) if transport else {})}
        argv = command(
            _JOBS / f"{name}.py", str(shop), *arguments, conf=conf, scratch=shop / "scratch"
        )
        run = RoleCommand(role=name, argv=argv, death_signal=signal.SIGKILL)
        self.name = name
        self.log = shop / "logs" / f"{name}.log"
        self._child = Child(run, spark_environment(), self.log)

    def start(self) -> None:
        """Start it; the caller ends it."""
        self._child.start()

    def exited(self) -> int | None:
        """Return its exit code once it has ended."""
        return self._child.exited()

    def stop(self, patience: Patience) -> None:
        """Ask it to end, wait for that, and kill what is left.

        A Spark that takes longer on a busy machine is no fault of the demo.
        """
        self._child.ask_to_stop()
        try:
            with suppress(StepFailedError):
                patience.until(
                    lambda: not self._child.is_running(),
                    seconds=_STOP_SECONDS,
                    what=f"end of {self.name}",
                )
        finally:
            self.kill()

    def kill(self) -> None:
        """Leave nothing of it behind."""
        self._child.end()


def wait_for_exit(job: ShopJob, patience: Patience) -> int:
    """Wait for the end of a job that was started; its exit code.

    Raises:
        StepFailedError: it did not end in time, and was killed.
    """
    try:
        (code,) = patience.until(lambda: _some(job.exited()), what=f"job {job.name} ({job.log})")
    finally:
        job.kill()
    return code


def _some(code: int | None) -> tuple[int, ...]:
    return () if code is None else (code,)
