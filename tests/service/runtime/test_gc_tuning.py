"""What is given back once it is free, and when the service says so."""

import ctypes
import os
import subprocess
import sys

import pytest

_MEBIBYTES = 2
_STARTED = """
import gc, service.__main__ as role

class Listening:
    def __init__(self, *_given, **_named): pass
    def stop(self): pass
    async def serve(self): print(gc.get_freeze_count() > 0, gc.get_threshold()[0])

role.http_server = Listening
role.main()
"""
# What is small and stays lies between what is large and does not: the heap cannot shrink.
_TAKEN_AND_LEFT = f"""
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

def take(count):
    found = []
    for _ in range(count):
        large, small = libc.malloc({_MEBIBYTES} << 20), libc.malloc(4_000)
        ctypes.memset(large, 1, {_MEBIBYTES} << 20)
        found.append(large)
    return found

for count in (1, 100):
    for large in take(count):
        libc.free(large)
(held,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmRSS")]
print(int(held) // 1_024)
"""


def _printed(code: str, environment: dict[str, str] | None = None) -> str:
    given = {**os.environ, **(environment or {})}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env=given, timeout=60
    ).stdout


def _held_mebibytes(before: str) -> int:
    return int(_printed(before + _TAKEN_AND_LEFT))


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="no glibc: nothing to tell")
def test_what_is_large_and_free_is_the_system_s_again():
    """The mutant keeps 200 MiB that nobody uses."""
    freeze = "from service.runtime.gc_tuning import freeze_startup\nfreeze_startup()\n"
    settled = _held_mebibytes(freeze)
    kept = _held_mebibytes("import service.runtime.gc_tuning\n")

    assert kept - settled > 100 * _MEBIBYTES / 2


@pytest.mark.usefixtures("embedded")
def test_the_service_has_settled_before_it_answers(tmp_path):
    """What it has loaded by then is gone through by no collection, in no answer."""
    ports = dict.fromkeys(("LINEWARD_METRICS_PORT", "LINEWARD_SERVICE_PORT"), "0")

    printed = _printed(_STARTED, {**ports, "LINEWARD_DATA_DIR": str(tmp_path)})

    assert printed.splitlines() == ["True 20000"] * 2  # the API and the metrics
