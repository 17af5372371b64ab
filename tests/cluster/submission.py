"""Submits a SparkApplication by spark-submit, as the operator does."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark

from tests.cluster.control_plane import ControlPlane
from tests.helm.charts import Manifest
from tests.helm.spark_pods import write_settings

DRIVER = "lineward-pipeline-driver"
_PYTHON = "PYSPARK_PYTHON"
_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"


def operator_settings(
    application: Manifest, plane: ControlPlane, namespace: str, folder: Path
) -> dict[str, str]:
    """Return the settings that the operator gives to spark-submit; write the pod templates."""
    return write_settings(application, folder) | {
        "spark.master": f"k8s://{plane.url}",
        "spark.kubernetes.namespace": namespace,
        "spark.kubernetes.driver.pod.name": DRIVER,
        "spark.kubernetes.submission.waitAppCompletion": "false",
        "spark.kubernetes.authenticate.submission.caCertFile": str(plane.ca),
        "spark.kubernetes.authenticate.submission.oauthToken": plane.token,
    }


def submit(settings: dict[str, str], main_file: str) -> subprocess.CompletedProcess[str]:
    """Create the driver's pod, and what belongs to it."""
    return subprocess.run(
        command(settings, "cluster", main_file),
        # The operator has no Python of its own: a name of one here would be the driver's too.
        env={name: value for name, value in os.environ.items() if name != _PYTHON},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def command(settings: dict[str, str], mode: str, main_file: str) -> list[str]:
    """Return the words of spark-submit."""
    options = [part for name, value in settings.items() for part in ("--conf", f"{name}={value}")]
    return [str(_SUBMIT), "--deploy-mode", mode, *options, main_file]


def environment() -> dict[str, str]:
    """Return the variables of a driver that runs on this machine."""
    return os.environ | {_PYTHON: sys.executable}
