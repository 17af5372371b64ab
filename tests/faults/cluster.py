"""Spark's own standalone cluster on this machine: a master, and workers that start executors."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pyspark

from tests.service.waiting import until

_SPARK = Path(pyspark.__file__).parent
_MEMORY = "512m"  # the least that an executor takes
_DEPLOY = "org.apache.spark.deploy"


class Cluster:
    """Processes of a cluster; each can be killed."""

    def __init__(self, folder: Path, workers: int) -> None:
        """Start the master, and so many workers of one core."""
        folder.mkdir()
        self._folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{port}"
        given = "--host", "127.0.0.1", "--port", f"{port}", "--webui-port", "0"
        self._master = self._start("master", f"{_DEPLOY}.master.Master", *given)
        until(lambda: "started" in self.log("master").lower(), told=lambda: self.log("master"))
        self.workers = [self.add_worker(f"worker-{number}") for number in range(workers)]

    def add_worker(self, name: str) -> subprocess.Popen[bytes]:
        """Start a worker, and wait until the master knows it."""
        size = "--cores", "1", "--memory", "600m", "--work-dir", f"{self._folder / name}"
        given = "--host", "127.0.0.1", "--webui-port", "0", *size, self.url
        worker = self._start(name, f"{_DEPLOY}.worker.Worker", *given)
        registered = "Successfully registered with master"
        until(lambda: registered in self.log(name), told=lambda: self.log(name))
        return worker

    def submit(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        """Start a pipeline by spark-submit, with executors on both workers."""
        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "768m",
            "spark.executor.memory": _MEMORY,
            "spark.executor.cores": "1",
            "spark.ui.enabled": "false",
            "spark.pyspark.python": sys.executable,
        }
        options = [
            part for name, value in settings.items() for part in ("--conf", f"{name}={value}")
        ]
        submit = [f"{_SPARK}/bin/spark-submit", "--master", self.url, *options]
        main = Path(__file__).resolve().parents[2] / "helm" / "image" / "pipeline.py"
        with (self._folder / "driver.log").open("ab") as log:
            given = {"stdout": log, "stderr": log, "start_new_session": True}
            return subprocess.Popen([*submit, str(main)], env=os.environ | environment, **given)

    def log(self, name: str) -> str:
        """Return what a process has written."""
        return (self._folder / f"{name}.log").read_text()

    def kill_executor(self, place: int) -> None:
        """End the executor of this worker with -9, once it runs; the worker starts another."""

        def executors() -> list[str]:
            argv = ["pgrep", "-P", f"{self.workers[place].pid}", "-f", "CoarseGrained"]
            return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split()

        until(executors, told=lambda: self.log("driver"))
        os.kill(int(executors()[0]), signal.SIGKILL)

    def kill_worker(self, place: int) -> None:
        """End a worker with -9; its executor ends by itself."""
        self.workers[place].kill()
        self.workers[place].wait(30)

    def stop(self) -> None:
        """End all processes."""
        for process in (*self.workers, self._master):
            process.terminate()
            process.wait(60)

    def _start(self, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        argv = [f"{_SPARK}/bin/spark-class", main, *arguments]
        environment = os.environ | {"SPARK_HOME": str(_SPARK), "SPARK_DAEMON_MEMORY": "256m"}
        with (self._folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(argv, env=environment, stdout=log, stderr=log)
