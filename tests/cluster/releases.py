"""Installs the chart with Helm on the cluster of the tests."""

import shutil
import subprocess
from pathlib import Path

from tests.helm.charts import CHART, RELEASE, run_helm, values_path

# Rejects pods that `restricted` forbids, and warns of workloads with such pods.
RESTRICTED = {
    f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")
}
# Helm's client logs an error where Helm ends its own watch in the middle of an answer.
_OWN_END = 'err="context canceled"'
_SECONDS = 120
_TEST_SECONDS = 600  # Spark starts, and evaluates for the first time


class Release:
    """Release of the chart in a namespace.

    Attributes:
        namespace: of the release.
    """

    def __init__(self, kubeconfig: Path, namespace: str, values: str) -> None:
        self.namespace = namespace
        self._kubeconfig, self._values = kubeconfig, str(values_path(values))

    def install(self, *options: str) -> str:
        """Install the chart, and wait until all of it is ready; return Helm's warnings."""
        return self._run("install", str(CHART), "-f", self._values, "--wait", *options)

    def try_install(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Install the chart without waiting; return what Helm says, whether it works or not."""
        return self._ask("install", str(CHART), "-f", self._values, *options)

    def upgrade(self, *options: str, chart: Path = CHART) -> str:
        """Upgrade the release as `install` installs it."""
        return self._run("upgrade", str(chart), "-f", self._values, "--wait", *options)

    def try_upgrade(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Upgrade the release; return what Helm says, whether it works or not."""
        return self._ask("upgrade", str(CHART), "-f", self._values, *options)

    def roll_back(self) -> str:
        """Roll the release back to the revision before."""
        return self._run("rollback", "--wait")

    def test(self) -> str:
        """Run the chart's own test; return what Helm prints."""
        answer = self._ask("test", seconds=_TEST_SECONDS)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    def uninstall(self) -> str:
        """Uninstall the release, and wait until its objects are gone."""
        return self._run("uninstall", "--wait")

    def remove(self) -> None:
        """Uninstall the release where it is installed."""
        if self._ask("status").returncode == 0:
            self.uninstall()

    def _run(self, command: str, *words: str) -> str:
        answer = self._ask(command, *words)
        assert answer.returncode == 0, answer.stderr
        lines = answer.stderr.splitlines(keepends=True)
        return "".join(line for line in lines if _OWN_END not in line)

    def _ask(
        self, command: str, *words: str, seconds: int = _SECONDS
    ) -> subprocess.CompletedProcess[str]:
        where = ("-n", self.namespace, "--kubeconfig", str(self._kubeconfig))
        timeout = () if command == "status" else ("--timeout", f"{seconds}s")
        return run_helm(command, RELEASE, *words, *where, *timeout, seconds=seconds + 60)


def copy_chart(folder: Path, version: str) -> Path:
    """Return a copy of the chart with another version, as a later release has it."""
    chart = folder / CHART.name
    shutil.copytree(CHART, chart)
    file = chart / "Chart.yaml"
    lines = file.read_text().splitlines()
    changed = [
        f"{line.partition(':')[0]}: {version}"
        if line.startswith(("version:", "appVersion:"))
        else line
        for line in lines
    ]
    file.write_text("\n".join(changed) + "\n")
    return chart
