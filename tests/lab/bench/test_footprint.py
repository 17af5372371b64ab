"""Memory figures of the benchmarks, compared with the kernel's."""

import subprocess
import sys
import time

from lab.bench.footprint import CpuMeter, memory_bytes


def _busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_the_meter_counts_the_use_of_this_process():
    meter = CpuMeter()
    _busy(0.3)
    assert 0.25 < meter.seconds() < 3


def test_a_child_counts_while_it_runs_and_never_lowers_the_figure():
    large = 200 << 20  # more than other child processes grow by meanwhile
    code = f"import time\nheld = b'x' * {large}\nwhile time.process_time() < 0.5: pass\n"
    code += "print(flush=True)\ninput()"
    before = CpuMeter()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        alone = CpuMeter(child.pid)
        child.stdout.readline()
        of_child = alone.seconds()
        with_child, memory = before.seconds(), memory_bytes()
        after = CpuMeter()
        child.communicate(b"\n")

    assert with_child > 0.4
    assert with_child >= of_child > 0.3
    assert after.seconds() >= 0
    assert memory > memory_bytes()
