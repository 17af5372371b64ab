"""Check what the tests on a cluster rest on, without one: definitions and the box of processes."""

import os
import subprocess

import pytest

from tests.cluster.containers import BOX
from tests.cluster.definitions import KINDS, define
from tests.cluster.releases import copy_chart
from tests.helm.charts import run_helm, values_path
from tests.helm.schemas import KUBERNETES, find_errors
from tests.service.runtime.container.test_entrypoint import needs_mounts

pytestmark = pytest.mark.xdist_group("helm")

_PROBE = """
id -u; id -g; hostname
touch /data/written
for folder in /kept /etc ""; do LC_ALL=C touch $folder/x 2>&1 | sed "s/.*: //"; done
ls /home 2>/dev/null || echo hidden
grep CapBnd /proc/self/status
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("version", KUBERNETES)
def test_definitions_are_valid(kind, version):
    """Validate them strictly: they carry the schemas that the chart's objects are checked by."""
    assert find_errors(define(kind), version) == []


def test_a_copy_of_the_chart_has_another_version(tmp_path):
    """Render the copy: its image and its label of the chart are those of a later release."""
    chart = str(copy_chart(tmp_path, "9.9.9"))

    printed = run_helm("template", "lineward", chart, "-f", str(values_path("embedded"))).stdout

    assert "image: lineward:9.9.9" in printed
    assert "helm.sh/chart: lineward-9.9.9" in printed


@needs_mounts
def test_a_boxed_process_has_its_volumes_and_no_right_more(tmp_path):
    """Try to write everywhere, as uid 10001 with a volume to write and one to read."""
    for name in ("data", "kept"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o777)
    mounts = tmp_path / "mounts"
    mounts.write_text(f"{tmp_path}/data /data rw\n{tmp_path}/kept /kept ro\n")
    who = ["10001", "10001", "10001", "pod-0"]
    box = ["unshare", "--mount", "--uts", "sh", str(BOX), str(mounts), *who, "--"]

    done = subprocess.run([*box, "sh", "-c", _PROBE], check=True, capture_output=True, text=True)

    *words, capabilities = done.stdout.splitlines()
    assert words == ["10001", "10001", "pod-0", *["Read-only file system"] * 3, "hidden"]
    assert capabilities.split() == ["CapBnd:", "0" * 16]
    assert (tmp_path / "data" / "written").stat().st_uid == 10001
    assert not os.path.lexists("/data")
