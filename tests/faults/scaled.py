"""Lineward in scaled mode on this machine, each part of which can be killed."""

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tests.faults.cluster import Cluster
from tests.faults.pods import Pod
from tests.service.ingest.kafka.broker import Broker
from tests.slis.lake.s3 import S3Server
from tests.suite.postgres_server import PostgresServer
from tests.suite.waiting import until

if TYPE_CHECKING:
    import subprocess


def _nothing() -> None:
    """Do nothing."""


class Fault(NamedTuple):
    """Fault of a part.

    Attributes:
        strike: breaks the part.
        recover: restores it, as an operator or Kubernetes does.
        check: is called when all events have landed.
    """

    strike: Callable[[], None]
    recover: Callable[[], None] = _nothing
    check: Callable[[], None] = _nothing


class Scaled:
    """Servers, collectors with shippers, cluster, and the driver of the pipeline.

    Attributes:
        faults: by the name of the part.
    """

    def __init__(  # noqa: PLR0913 - by name
        self,
        cluster: Cluster,
        *,
        broker: Broker,
        postgres: PostgresServer,
        s3: S3Server,
        pods: list[Pod],
        environment: dict[str, str],
    ) -> None:
        """Start the driver.

        Args:
            cluster: that runs the pipeline.
            broker: has the topic.
            postgres: has the catalog.
            s3: has the lake.
            pods: collectors.
            environment: of the pipeline.
        """
        self._cluster, self._broker, self._pods = cluster, broker, pods
        self._environment = environment
        self._drivers: list[subprocess.Popen[bytes]] = []
        self.faults = {
            "executor": Fault(cluster.kill_executor),
            "worker": Fault(cluster.kill_worker, check=cluster.replace_worker),
            "driver": Fault(self._kill_driver, self.start_driver),
            "driver that wakes": Fault(self._pause_driver, self.start_driver, self._wake_driver),
            "broker": Fault(broker.kill, self._start_broker),
            "broker that hangs": Fault(broker.pause, broker.resume),
            "PostgreSQL": Fault(postgres.kill, postgres.start),
            "PostgreSQL that hangs": Fault(postgres.pause, postgres.resume),
            "S3": Fault(s3.stop, s3.start),
            "collector": Fault(pods[0].kill, pods[0].start),
            "shipper": Fault(pods[1].kill_shipper, pods[1].start_shipper),
        }
        self.start_driver()

    def start_driver(self) -> None:
        """Start a driver, and wait until its executors may read instead of the driver."""
        name = f"driver-{len(self._drivers)}"
        self._drivers.append(self._cluster.submit(name, self._environment))
        until(lambda: "spark_opened" in self.log(), describe=self.log)

    def log(self) -> str:
        """Return the log of the newest driver, which must still run."""
        written = self._cluster.log(f"driver-{len(self._drivers) - 1}")
        assert self._drivers[-1].poll() is None, written
        return written

    def stop(self) -> None:
        """End all drivers with -9."""
        for driver in self._drivers:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
                driver.wait(30)

    def _start_broker(self) -> None:
        self._broker.start()
        self._broker.ready()

    def _kill_driver(self) -> None:
        os.killpg(self._drivers[-1].pid, signal.SIGKILL)
        self._drivers[-1].wait(30)

    def _pause_driver(self) -> None:
        os.killpg(self._drivers[-1].pid, signal.SIGSTOP)

    def _wake_driver(self) -> None:
        """Wake the driver before the newest one, which must end by itself."""
        number = len(self._drivers) - 2
        woken = self._drivers[number]
        os.killpg(woken.pid, signal.SIGCONT)
        until(
            lambda: woken.poll() is not None, describe=lambda: self._cluster.log(f"driver-{number}")
        )
        assert woken.returncode != 0
        assert "another pipeline" in self._cluster.log(f"driver-{number}")
