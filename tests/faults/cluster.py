"""Standalone cluster of Spark on this machine: a master, and workers that start executors."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyspark

from slis.spark.session_settings import JVM
from tests.suite.ports import free_port
from tests.suite.waiting import until

_SPARK = Path(pyspark.__file__).parent
_MEMORY = "512m"  # the least that an executor takes
_MAIN = Path(__file__).resolve().parents[2] / "helm" / "image" / "pipeline.py"
_DEPLOY = "org.apache.spark.deploy"


class Cluster:
    """Processes of a cluster; each can be killed."""

    def __init__(self, folder: Path, workers: int) -> None:
        """Start the master, and so many workers, each with room for executors of two pipelines."""
        folder.mkdir()
        self._folder = folder
        self._added = self._lost = 0
        port = free_port()
        self.url = f"spark://127.0.0.1:{port}"
        given = "--host", "127.0.0.1", "--port", f"{port}", "--webui-port", "0"
        self._master = self._start("master", f"{_DEPLOY}.master.Master", *given)
        until(lambda: "started" in self.log("master").lower(), describe=lambda: self.log("master"))
        self.workers = [self.add_worker(f"worker-{number}") for number in range(workers)]

    def add_worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start a worker, and wait until the master lists it."""
        size = "--cores", "2", "--memory", "1200m", "--work-dir", f"{self._folder / name}"
        given = "--host", "127.0.0.1", "--webui-port", "0", *size, self.url
        worker = self._start(name, f"{_DEPLOY}.worker.Worker", *given)
        registered = "Successfully registered with master"
        until(lambda: registered in self.log(name), describe=lambda: self.log(name))
        return worker

    def submit(
        self, name: str, environment: dict[str, str], main: Path = _MAIN, *, cores: int = 2
    ) -> subprocess.Popen[bytes]:
        """Start a pipeline by spark-submit, and so many executors, with a log `name`."""
        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "768m",
            "spark.driver.extraJavaOptions": " ".join(JVM),  # as the chart sets them
            "spark.executor.memory": _MEMORY,
            "spark.executor.cores": "1",
            "spark.cores.max": f"{cores}",
            "spark.ui.enabled": "false",
            "spark.pyspark.python": sys.executable,
        }
        options = [
            part for name, value in settings.items() for part in ("--conf", f"{name}={value}")
        ]
        submit = [f"{_SPARK}/bin/spark-submit", "--master", self.url, *options]
        with (self._folder / f"{name}.log").open("ab") as log:
            given = {"stdout": log, "stderr": log, "start_new_session": True}
            return subprocess.Popen([*submit, str(main)], env=os.environ | environment, **given)

    def log(self, name: str) -> str:
        """Return what a process has written."""
        return (self._folder / f"{name}.log").read_text()

    def kill_executor(self) -> None:
        """End an executor with -9, once one runs; its worker starts another."""
        os.kill(self._executors(self._busy_place())[0], signal.SIGKILL)

    def kill_worker(self) -> None:
        """End a worker with -9, once it has an executor, which then ends by itself."""
        self._lost = self._busy_place()
        self.workers[self._lost].kill()
        self.workers[self._lost].wait(30)

    def replace_worker(self) -> None:
        """Start a worker in place of the killed one."""
        self._added += 1
        self.workers[self._lost] = self.add_worker(f"worker-{self._lost}-{self._added}")

    def _busy_place(self) -> int:
        def found() -> list[int]:
            return [place for place in range(len(self.workers)) if self._executors(place)]

        return until(found, describe=lambda: self.log("master"))[0]

    def _executors(self, place: int) -> list[int]:
        argv = ["pgrep", "-P", f"{self.workers[place].pid}", "-f", "CoarseGrained"]
        listed = subprocess.run(argv, capture_output=True, text=True, check=False).stdout
        return [int(pid) for pid in listed.split()]

    def stop(self) -> None:
        """End all processes."""
        for process in (*self.workers, self._master):
            process.terminate()
        for process in (*self.workers, self._master):
            process.wait(60)

    def _start(self, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        argv = [f"{_SPARK}/bin/spark-class", main, *arguments]
        environment = os.environ | {"SPARK_HOME": str(_SPARK), "SPARK_DAEMON_MEMORY": "256m"}
        with (self._folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(argv, env=environment, stdout=log, stderr=log)
