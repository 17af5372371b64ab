"""Real Kafka broker, of Kafka's own jars: one node that is broker and controller."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from tests.suite.ports import free_ports
from tests.suite.waiting import until

ROOT = Path(__file__).resolve().parents[4]
JARS = ROOT / "build" / "kafka" / "jars"
_SCALA = Path(pyspark.__file__).parent / "jars" / "scala-library-*.jar"
# As short-lived as a test: started in seconds, small, and nothing of it is to last.
_JVM = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://{host}:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://{host}:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/log
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
"""


class Broker:
    """Process, address and folder of the broker; received messages outlive it."""

    def __init__(self, folder: Path, host: str = "127.0.0.1") -> None:
        """Format the folder, and start on this address."""
        self.port, controller = free_ports(2)
        self.bootstrap = f"{host}:{self.port}"
        self._properties = folder / "server.properties"
        self._log = folder / "broker.log"
        folder.mkdir()
        places = {"host": host, "port": self.port, "controller": controller, "folder": folder}
        text = _PROPERTIES.format(**places)
        self._properties.write_text(text)
        cluster = "AAAAAAAAAAAAAAAAAAAAAQ"
        argv = _java("kafka.tools.StorageTool", "format", "-t", cluster, "-c", self._properties)
        subprocess.run(argv, check=True, capture_output=True)
        self.start()

    def start(self) -> None:
        """Start it; `ready` waits for it."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                _java("kafka.Kafka", self._properties), stdout=log, stderr=log
            )

    def ready(self) -> "Broker":
        """Wait until it answers."""
        until(self._answers)
        return self

    def _answers(self) -> bool:
        assert self._process.poll() is None, self._log.read_text()[-3000:]
        try:
            return bool(_admin(self.bootstrap).list_topics(timeout=1).brokers)
        except KafkaException:
            return False

    def create_topic(self, name: str, *, partitions: int) -> None:
        """Create an empty topic."""
        topic = NewTopic(name, num_partitions=partitions, replication_factor=1)
        admin = _admin(self.bootstrap)  # kept: without it nothing waits for the answer
        admin.create_topics([topic])[name].result(30)

    def pause(self) -> None:
        """Stop it by SIGSTOP: it accepts data, and does not answer."""
        os.kill(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Have it go on."""
        os.kill(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kill it with -9."""
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGKILL)
        self._process.wait(30)


@contextmanager
def running_broker(
    folder: Path, topic: str, *, partitions: int, host: str = "127.0.0.1"
) -> Iterator[Broker]:
    """Give a broker below the folder that has this topic, and kill it in the end."""
    running = Broker(folder / "broker", host)
    try:
        running.ready().create_topic(topic, partitions=partitions)
        yield running
    finally:
        running.kill()


def _java(*command: object) -> list[str]:
    assert JARS.is_dir(), f"{JARS} is not there: run scripts/setup.sh test"
    (scala,) = _SCALA.parent.glob(_SCALA.name)
    return ["java", *_JVM, "-cp", f"{JARS}/*:{scala}", *map(str, command)]


def _admin(bootstrap: str) -> AdminClient:
    # What it would say while nobody answers is no news here.
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
