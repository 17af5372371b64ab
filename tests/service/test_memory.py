"""What is given back once it is free."""

import subprocess
import sys

_MEBIBYTES = 2
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


def _held_mebibytes(before: str) -> int:
    code = before + _TAKEN_AND_LEFT
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(run.stdout)


def test_what_is_large_and_free_is_the_system_s_again():
    """The mutant keeps 200 MiB that nobody uses."""
    settled = _held_mebibytes("from service.memory import give_back; give_back()\n")
    kept = _held_mebibytes("import service.memory\n")

    assert kept - settled > 100 * _MEBIBYTES / 2
