"""Cost of an event on a PostgreSQL of its own with default settings, and needs that follow.

Run by hand: `python -m tests.bench.postgres [EVENTS ...]`, or `make scale-test`.
"""

import sys

import msgspec

from lab.bench import pipeline
from lab.commands.bench import tables
from lineage.process.logs import log_to_stderr
from service.cli.terminal import console
from tests.bench.sizing import needs
from tests.suite.postgres_server import running_postgres


def main(*sizes: str) -> None:
    """Print the cost of an event in backlogs of these sizes, and the needs by the largest one."""
    log_to_stderr("warning")
    with running_postgres() as server:
        report = pipeline.run([int(size) for size in sizes], live_seconds=0, catalog_url=server.url)
    shown = {"sweep": report.sweep, "needs": list(needs(report.sweep[-1]))}
    for table in tables(msgspec.to_builtins(shown)):
        console().print(table)


if __name__ == "__main__":
    main(*(sys.argv[1:] or ("100000", "1000000")))
