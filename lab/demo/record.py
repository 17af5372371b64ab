"""Recording program: `python -m lab.demo.record`, after a change of jobs or listener.

Each instrumented job runs once, with the listener writing into a file.
"""

import gzip
import json
import re
import sys
import tempfile
from pathlib import Path

from lab.demo.estate import Shop
from lab.demo.recording import FOLDER, RECORDED
from lab.demo.spark import ShopJob, file, wait_for_exit
from lab.demo.waiting import Patience, StepFailedError

# The new dataset and the stream are of today: they have no past.
NIGHTLY = ("raw", "core", "mart", "churn", "stock")
_USER = re.compile(rb'"userName":"[^"]*"')


def main() -> int:
    """Record, and replace the file beside this one."""
    with tempfile.TemporaryDirectory(prefix="lineward-record-") as folder:
        shop = Path(folder).resolve() / "shop"
        Shop(shop).land(newcomers=0)
        _run(ShopJob("rates", shop, transport=None))
        for name in NIGHTLY:
            _run(ShopJob(name, shop, transport=file(shop / f"{name}.jsonl")))
        lines = [line for name in NIGHTLY for line in _lines(shop / f"{name}.jsonl", shop)]
    with RECORDED.open("wb") as out, gzip.GzipFile("", "wb", fileobj=out, mtime=0) as packed:
        packed.writelines(line + b"\n" for line in lines)
    sys.stdout.write(f"{len(lines)} events, {RECORDED.stat().st_size} bytes\n")
    return 0


def _run(job: ShopJob) -> None:
    job.start()
    code = wait_for_exit(job, Patience())
    if code:
        raise StepFailedError(f"job {job.name} ended with {code}: see {job.log}")


def _lines(path: Path, shop: Path) -> list[bytes]:
    """Replace folder and user by neutral ones, and remove white space."""
    text = path.read_bytes().replace(str(shop).encode(), FOLDER.encode())
    neutral = _USER.sub(b'"userName":"shop"', text)
    return [
        json.dumps(json.loads(line), separators=(",", ":")).encode()
        for line in neutral.splitlines()
    ]


if __name__ == "__main__":
    sys.exit(main())
